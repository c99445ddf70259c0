#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dasgd/data/preparation/prepared_samples.hpp"

namespace dasgd::test {

/// Rows of numbers with a target each, a tenth of them held out.
inline std::shared_ptr<const PreparedSamples> table_samples(std::vector<float> inputs,
                                                            std::size_t columns,
                                                            std::vector<double> targets,
                                                            bool classes,
                                                            Scale scale = Scale::standard) {
  RawData raw{.path = "t.csv", .shape = {static_cast<std::int64_t>(columns)}};
  raw.inputs = std::make_shared<FloatRows>(std::move(inputs), columns);
  raw.labels.values = targets;
  DataParts parts;
  if (classes) parts.classes = find_classes(raw);
  parts[Part::train].targets = std::make_shared<const std::vector<double>>(std::move(targets));
  parts[Part::train].data = std::make_shared<const RawData>(std::move(raw));
  hold_out(parts, 0.1, 1);
  return std::make_shared<PreparedSamples>(std::move(parts),
                                           PreparedSamples::Options{.scale = scale});
}

}  // namespace dasgd::test
