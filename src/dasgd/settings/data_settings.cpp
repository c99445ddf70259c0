#include <filesystem>
#include <system_error>

#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

// A file works from every directory; a share stays one.
std::string file_from_anywhere(const std::string& text) {
  std::error_code unknown;
  return std::filesystem::exists(text, unknown) ? from_anywhere(text) : text;
}

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
           "what is held out to judge models while they are trained: a file, or a share of the "
           "data, drawn by the seed (default: the data's own test part, else 0.1; LIBSVM files of "
           "logistic: none)"},
          [](auto& c) -> auto& { return c.problem.reading.validation; }),
      file_or_share(
          {"test", "--test", "FILE",
           "what is looked at once, when the run has ended (default: the data's own test part "
           "where --validation is given)"},
          [](auto& c) -> auto& { return c.problem.reading.test; }),
      text(
          {"label", "--label", "COLUMN",
           "the column of the label in a table: its name, or its number from 1 (default: the "
           "last)"},
          [](auto& c) -> auto& { return c.problem.reading.label; }),
      repeatable(
          {"exclude", "--exclude", "COLUMN,...",
           "columns of a CSV file that are no inputs, such as an id or a date: by name, or number "
           "from 1"},
          [](auto& c) -> auto& { return c.problem.reading.exclude; },
          [](const std::string& v) { return v; }, [](const std::string& v) { return v; }),
      named(
          {"scale", "--scale", "standard|inputs|255|none",
           "what is done to raw numbers: mean 0 and deviation 1 of the training part, for targets "
           "that are numbers too (standard) or not (inputs), divided by 255, or nothing (default: "
           "standard; 255 for images with softmax; none for LIBSVM files with logistic). It is "
           "inside model.pt"},
          [](auto& c) -> auto& { return c.problem.reading.scale; }, parse_scale),
      named(
          {"missing", "--missing", "mean|median|most-frequent|drop|error",
           "values that a table does not have: put the column's mean or median there (a missing "
           "text is then a category of its own) or its most frequent value, leave the row out, or "
           "refuse (default: mean in CSV files, else refuse)"},
          [](auto& c) -> auto& { return c.problem.reading.missing; }, parse_missing),
      named(
          {"resize", "--resize", "N|HxW",
           "bring pictures of a folder to this size (default: all must have the same)"},
          [](auto& c) -> auto& { return c.problem.reading.resize; }, parse_picture_size),
      text(
          {"class_weights", "--class-weights", "balanced|NAME:W,...",
           "how much samples of a class count in the loss (default: all the same)"},
          [](auto& c) -> auto& { return c.problem.reading.class_weights; }),
  };
}

}  // namespace dasgd::config
