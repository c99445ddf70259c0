#include "dasgd/data/preparation/prepared_samples.hpp"

#include <utility>

namespace dasgd {
namespace {

Preprocessing fitted(const DataParts& parts, const PreparedSamples::Options& options) {
  Preprocessing found = open_preprocessing(parts, options);
  const DataPart& train = parts[Part::train];
  const std::vector<std::uint32_t> all;
  const auto& rows = train.rows ? *train.rows : all;
  fit(found, *train.data->inputs, rows, train.data->path);
  if (found.answers == Answers::number && found.scale == Scale::standard)
    found.target = fit_target(*train.targets, rows);
  return found;
}

}  // namespace

Preprocessing open_preprocessing(const DataParts& parts, const PreparedSamples::Options& options) {
  const RawData& data = *parts[Part::train].data;
  Preprocessing open;
  open.shape = data.shape;
  open.scale = options.scale;
  open.missing = options.missing;
  open.resize = options.resize;
  open.columns = data.columns;
  open.label = data.label;
  open.label_at = data.label_at;
  open.label_comma = data.label_comma;
  open.encoding = data.encoding;
  open.classes = parts.classes;
  open.answers = parts.classes.empty() ? Answers::number : options.answers;
  return open;
}

PreparedSamples::PreparedSamples(DataParts parts, Options options)
    : PreparedSamples(parts, fitted(parts, options), options) {}

PreparedSamples::PreparedSamples(DataParts parts, Preprocessing preprocessing, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      preprocessing_(std::move(preprocessing)) {
  format_.input = parts_[Part::train].data->shape;
  format_.classes = parts_.classes.size();
  for (const DataPart& part : parts_.parts)
    if (part.data) part.data->inputs->expect_any_order();  // workers draw from all of it
}

void PreparedSamples::fetch(Part part, Rows rows) const {
  const DataPart& from = parts_[part];
  for (const std::uint32_t place : rows) {
    const std::size_t row = from.row(place);
    from.data->inputs->fetch(row);
    __builtin_prefetch(from.targets->data() + row);
  }
}

void PreparedSamples::copy(Part part, std::size_t place, std::span<float> to) const {
  parts_[part].data->inputs->copy(parts_[part].row(place), to);
  preprocessing_.apply(to);
}

std::vector<std::uint32_t> PreparedSamples::labels(Part part) const {
  std::vector<std::uint32_t> found(format_.classes == 0 ? 0 : count(part));
  for (std::size_t row = 0; row < found.size(); ++row)
    found[row] = static_cast<std::uint32_t>(target(part, row));
  return found;
}

void PreparedSamples::gather(Part part, Rows rows, Random* chance, SampleBatch& batch) const {
  fetch(part, rows);
  const DataPart& from = parts_[part];
  const std::size_t width = from.data->inputs->width();
  batch.count = rows.size();
  batch.inputs.resize(rows.size() * width);
  batch.labels.clear();
  batch.values.clear();
  batch.weights.clear();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::span<float> to(batch.inputs.data() + r * width, width);
    from.data->inputs->copy(from.row(rows[r]), to);
    if (chance && options_.augmentation.changes())
      augment(options_.augmentation, *chance, format_.input, to);
    preprocessing_.apply(to);
    const double target = from.target(rows[r]);
    if (format_.classes == 0) {
      const auto& scale = preprocessing_.target;
      batch.values.push_back(static_cast<float>(scale ? scale->standardised(target) : target));
      continue;
    }
    batch.labels.push_back(static_cast<std::int64_t>(target));
    if (!options_.class_weights.empty())
      batch.weights.push_back(weight(static_cast<std::size_t>(target)));
  }
}

}  // namespace dasgd
