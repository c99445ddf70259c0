#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

template <typename Place>
Setting file_or_share(SettingName name, Place at) {
  Setting setting = text(std::move(name), at);
  setting.show = [at](const Config& c) -> std::optional<std::string> {
    if (at(c).empty()) return std::nullopt;
    return quoted(file_from_anywhere(at(c)));
  };
  return setting;
}

}  // namespace

std::vector<Setting> data_settings() {
  return {
      file_or_share(
          {"validation", "--validation", "FILE|SHARE",
           "validation data: a file, or a random share of the data (default: the data's own test "
           "part, else 0.1; none for LIBSVM files with logistic)"},
          field(&Config::problem, &ProblemChoice::reading, &DataChoice::validation)),
      file_or_share(
          {"test", "--test", "FILE",
           "test data, evaluated once at the end of the run (default: the data's own test part "
           "where --validation is given)"},
          field(&Config::problem, &ProblemChoice::reading, &DataChoice::test)),
      text({"label", "--label", "COLUMN",
            "label column of a table, by name or number from 1 (default: the last)"},
           field(&Config::problem, &ProblemChoice::reading, &DataChoice::label)),
      repeatable(
          {"exclude", "--exclude", "COLUMN,...",
           "columns of a CSV file to leave out, such as an id, by name or number from 1"},
          field(&Config::problem, &ProblemChoice::reading, &DataChoice::exclude),
          [](const std::string& v) { return v; }, [](const std::string& v) { return v; }),
      named({"scale", "--scale", "standard|inputs|255|none",
             "scaling of raw numbers: to mean 0 and deviation 1, including numeric targets "
             "(standard) or without them (inputs); by 1/255; or none (default: standard; 255 for "
             "images with softmax; none for LIBSVM files with logistic). It is stored in model.pt"},
            field(&Config::problem, &ProblemChoice::reading, &DataChoice::scale), parse_scale),
      named({"missing", "--missing", "mean|median|most-frequent|drop|error",
             "missing values: fill in the mean, median or most frequent value of the column (a "
             "missing text becomes a category of its own), drop the row, or refuse the file "
             "(default: mean for CSV files, else error)"},
            field(&Config::problem, &ProblemChoice::reading, &DataChoice::missing), parse_missing),
      named({"resize", "--resize", "N|HxW",
             "resize pictures to this size (default: all must have the same size)"},
            field(&Config::problem, &ProblemChoice::reading, &DataChoice::resize),
            parse_picture_size),
      text({"class_weights", "--class-weights", "balanced|NAME:W,...",
            "weights of the classes in the loss (default: all equal)"},
           field(&Config::problem, &ProblemChoice::reading, &DataChoice::class_weights)),
  };
}

}  // namespace dasgd::config
