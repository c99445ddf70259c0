#include "dasgd/models/read_data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/row_number.hpp"
#include "dasgd/data/text_samples.hpp"
#include "dasgd/models/class_weights.hpp"

namespace dasgd {
namespace {

constexpr std::size_t text_window = 64, gpt_window = 1024;
constexpr double default_share = 0.1;

// A number from 0 to 1 is a share, anything else a file.
std::optional<double> share_of(const std::string& text) {
  double share = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, share);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  if (!(share >= 0 && share < 1))
    throw InputError("`validation` " + text + ": a share is from 0 to 1; 0 holds nothing out");
  return share;
}

bool wants_numbers(const ProblemChoice& choice) {
  return is_for_numbers(choice.loss.value_or(NetworkLoss::cross_entropy));
}

// With squared errors labels are numbers, unless the layout of the data makes them classes.
bool has_numbers_as_targets(const ProblemChoice& choice, const RawData& data) {
  return wants_numbers(choice) && data.classes.empty();
}

// Tables have gaps more often than not, and a run should not end for one; arrays seldom do.
Missing missing_of(const ProblemChoice& choice) {
  const bool table = !is_in_memory(choice) && kind_of_data(choice.data) == DataKind::csv;
  return choice.reading.missing.value_or(table ? Missing::mean : Missing::error);
}

SourceOptions source_options(const ProblemChoice& choice) {
  return {.table = {.label = choice.reading.label,
                    .exclude = choice.reading.exclude,
                    .missing = missing_of(choice),
                    .classes = !wants_numbers(choice)},
          .resize = choice.reading.resize,
          .arrays = &choice.arrays};
}

bool is_libsvm(const ProblemChoice& choice) {
  return !is_in_memory(choice) && kind_of_data(choice.data) == DataKind::libsvm;
}

DataPart to_part(RawData data, const std::vector<std::string>& classes, std::string from) {
  const auto none = [](double label) { return std::isnan(label); };
  if (data.labels.values.size() != data.rows() ||
      std::any_of(data.labels.values.begin(), data.labels.values.end(), none))
    throw InputError(data.path + ": has rows without a label");
  auto targets = classes.empty() ? data.labels.values : to_classes(data, classes);
  DataPart part;
  part.targets = std::make_shared<const std::vector<double>>(std::move(targets));
  part.from = std::move(from);
  data.labels = {};
  part.data = std::make_shared<const RawData>(std::move(data));
  return part;
}

/// A file for validation or test, read as the model will read it.
DataPart read_other(const std::string& file, const ProblemChoice& choice, const DataParts& parts) {
  const RawData& train = *parts[Part::train].data;
  Preprocessing like;
  like.shape = train.shape;
  like.columns = train.columns;
  like.label = train.label;
  like.label_at = train.label_at;
  like.label_comma = train.label_comma;
  like.encoding = train.encoding;
  if (fills(missing_of(choice))) like.fill.assign(like.width(), 0.0f);
  like.resize = choice.reading.resize.has_value();
  SourceOptions options = source_options(choice);
  options.resize.reset();
  options.table.like = &like;
  options.table.label.clear();  // `like` has them
  options.table.exclude.clear();
  RawData data = read_source(file, options).data;
  if (data.shape != train.shape)
    throw InputError(data.path + ": its samples do not have the shape of those of " + train.path);
  return to_part(std::move(data), parts.classes, file);
}

DataParts read_parts(const ProblemChoice& choice, std::uint64_t seed, const Preprocessing* known) {
  const DataChoice& reading = choice.reading;
  SourceOptions options = source_options(choice);
  if (known) options.table.like = known;
  DataSource source = read_source(choice.data, options);
  if (source.data.shape.size() == 1 && source.data.rows() < least_rows)
    throw InputError(source.data.path + ": has " + std::to_string(source.data.rows()) +
                     " rows; at least " + std::to_string(least_rows) + " are needed");
  DataParts parts;
  if (!has_numbers_as_targets(choice, source.data))
    parts.classes = known && !known->classes.empty() ? known->classes : find_classes(source.data);
  if (parts.classes.size() == 1)
    throw InputError(source.data.path + ": all labels are " + shown_piece(parts.classes[0]) +
                     "; at least two classes are needed");
  parts[Part::train] = to_part(std::move(source.data), parts.classes, choice.data);
  const auto share = share_of(reading.validation);
  const bool own_test_judges = reading.validation.empty() && source.test;
  if (source.test) {
    const Part where = own_test_judges ? Part::validation : Part::test;
    parts[where] =
        to_part(std::move(*source.test), parts.classes, "the test part of " + choice.data);
  }
  if (!reading.test.empty()) parts[Part::test] = read_other(reading.test, choice, parts);
  if (own_test_judges) return parts;
  if (!reading.validation.empty() && !share)
    parts[Part::validation] = read_other(reading.validation, choice, parts);
  else if (const double held = share.value_or(default_share); held > 0)
    hold_out(parts, held, seed);
  return parts;
}

bool misses_any(const DataParts& parts) {
  return std::any_of(parts.parts.begin(), parts.parts.end(),
                     [](const DataPart& part) { return part.data && part.data->missing > 0; });
}

PreparedSamples::Options prepared_options(const ProblemChoice& choice, const DataParts& parts) {
  const bool images = parts[Part::train].data->shape.size() == 3;
  const bool squares = wants_numbers(choice);
  PreparedSamples::Options options;
  options.scale = choice.reading.scale.value_or(
      choice.model == "softmax" && images ? Scale::by_255 : Scale::standard);
  options.missing =
      choice.reading.missing.value_or(misses_any(parts) ? missing_of(choice) : Missing::error);
  options.resize = choice.reading.resize.has_value();
  options.answers = squares ? Answers::shares : Answers::scores;
  options.augmentation = choice.augment.value_or(Augmentation{});
  options.class_weights = find_class_weights(choice.reading.class_weights, parts);
  if (choice.augment && !images)
    throw InputError("`augment` is for images; " + choice.data + " holds rows");
  return options;
}

// What a model does not learn from it is judged by. The training part is looked at where it is
// fitted.
void require_numbers_in(const DataParts& parts, const PreparedSamples::Options& options,
                        const Preprocessing* known) {
  const bool may_miss = known ? !known->fill.empty() : fills(options.missing);
  for (const Part part : all_parts) {
    const DataPart& of = parts[part];
    if (of.data && (known || part != Part::train))
      require_numbers(*of.data->inputs, of.rows ? Samples::Rows(*of.rows) : Samples::Rows(),
                      may_miss, of.data->path);
  }
}

// The rows of a part as sparse rows that miss nothing.
LabelledRows to_signed(const PreparedSamples& samples, Part part) {
  LabelledRows rows;
  rows.dimension = samples.preprocessing()->width();
  std::vector<float> row(rows.dimension);
  for (std::size_t r = 0; r < samples.count(part); ++r) {
    samples.copy(part, r, row);
    for (std::uint32_t c = 0; c < row.size(); ++c) {
      rows.columns.push_back(c);
      rows.values.push_back(row[c]);
    }
    rows.row_start.push_back(rows.columns.size());
    rows.labels.push_back(samples.target(part, r) > 0 ? 1 : -1);
  }
  return rows;
}

// As the paper has it: all rows, as they are.
bool is_paper_like(const ProblemChoice& choice) {
  const DataChoice& r = choice.reading;
  return is_libsvm(choice) && r.class_weights.empty() &&
         r.scale.value_or(Scale::none) == Scale::none && r.test.empty() &&
         (r.validation.empty() || share_of(r.validation) == 0.0);
}

SignedParts read_sparse_parts(const std::string& data) {
  const std::string path = locate_data(data);
  SignedParts parts;
  parts[Part::train] = read_libsvm(path);
  const LabelledRows& rows = parts[Part::train];
  Preprocessing p;
  p.shape = {static_cast<std::int64_t>(rows.dimension)};
  p.classes = rows.classes;
  p.answers = Answers::margin;
  parts.preprocessing = std::move(p);
  parts.from[0] = data;
  return parts;
}

}  // namespace

std::shared_ptr<const PreparedSamples> read_prepared(ProblemChoice choice, std::uint64_t seed,
                                                     const Preprocessing* known) {
  if (known) choice.reading.missing = known->missing;
  DataParts parts = read_parts(choice, seed, known);
  PreparedSamples::Options options = prepared_options(choice, parts);
  require_numbers_in(parts, options, known);
  if (!known) return std::make_shared<PreparedSamples>(std::move(parts), std::move(options));
  options.scale = Scale::none;
  Preprocessing plain = open_preprocessing(parts, options);
  return std::make_shared<PreparedSamples>(std::move(parts), std::move(plain), std::move(options));
}

std::shared_ptr<const Samples> read_samples(const ProblemChoice& choice, std::uint64_t seed,
                                            const Preprocessing* known) {
  if (choice.data.empty())
    throw InputError("`model` " + choice.model + " needs `data`; see: dasgd data list");
  const bool gpt = choice.model == "gpt";
  const bool text = gpt || choice.model == "char-transformer" || choice.data.ends_with(".txt");
  if (!text || is_in_memory(choice) || std::filesystem::is_directory(locate_data(choice.data)))
    return read_prepared(choice, seed, known);
  if (choice.augment) throw InputError("`augment` is for images; " + choice.data + " is a text");
  const std::string path = locate_data(choice.data);
  const std::string& validation = choice.reading.validation;
  const bool file = !validation.empty() && !share_of(validation);
  const double share = file ? 0.0 : share_of(validation).value_or(default_share);
  const std::size_t window = choice.context.value_or(gpt ? gpt_window : text_window);
  auto samples = std::make_shared<TextSamples>(read_text_file(path), window, path, share);
  if (file) samples->add(Part::validation, read_text_file(validation), validation);
  const std::string& test = choice.reading.test;
  if (!test.empty()) samples->add(Part::test, read_text_file(test), test);
  return samples;
}

SignedParts read_signed(const ProblemChoice& choice, std::uint64_t seed) {
  if (is_paper_like(choice)) return read_sparse_parts(choice.data);
  ProblemChoice asked = choice;
  if (is_libsvm(choice)) {
    if (asked.reading.validation.empty()) asked.reading.validation = "0";
    if (!asked.reading.scale) asked.reading.scale = Scale::none;
  }
  const auto samples = read_prepared(asked, seed);
  const std::vector<std::string>& classes = samples->preprocessing()->classes;
  if (classes.size() != 2)
    throw InputError(choice.data + ": has " + std::to_string(classes.size()) +
                     " classes; `model` logistic needs two, `model` softmax takes any number");
  SignedParts parts;
  for (const Part part : all_parts) {
    parts[part] = to_signed(*samples, part);
    parts.from[static_cast<std::size_t>(part)] = samples->origin(part);
  }
  parts.preprocessing = *samples->preprocessing();
  parts.preprocessing->answers = Answers::margin;
  parts.weights = {samples->weight(0), samples->weight(1)};
  parts.samples = samples;
  return parts;
}

}  // namespace dasgd
