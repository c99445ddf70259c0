#include "dasgd/data/rows/row_labels.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace dasgd {
namespace {

std::string shown(double label) {
  std::ostringstream text;
  text << label;
  return text.str();
}

class SignLabels final : public RowLabels {
 public:
  void see(double label, const RowText& at) override {
    if (label == 1) return;
    if (label != -1 && label != 0 && label != 2)
      throw at.mistake("label " + shown(label) + " is not -1, 0, 1 or 2");
    if (!other_ && settled_ && label == 2)
      throw at.mistake("label 2 follows rows whose label 1 was read as +1");
    if (other_ && *other_ != label)
      throw at.mistake("label " + shown(label) + " comes after " + shown(*other_) +
                       "; labels must be -1/+1, 0/1 or 1/2");
    other_ = label;
  }
  bool known() const override { return settled_ || other_; }
  void settle() override { settled_ = true; }
  double meaning(double label) const override { return label == larger() ? 1 : -1; }
  std::size_t classes() const override { return 2; }
  std::vector<std::string> signs() const override {
    return {shown(std::min(1.0, other_.value_or(-1))), shown(larger())};
  }

 private:
  double larger() const { return std::max(1.0, other_.value_or(1)); }

  std::optional<double> other_;  // than 1
  bool settled_ = false;
};

class ClassLabels final : public RowLabels {
 public:
  explicit ClassLabels(std::optional<std::size_t> classes) : classes_(classes) {}

  void see(double label, const RowText& at) override {
    if (!(label >= 0 && label < static_cast<double>(most_classes)) || label != std::floor(label))
      throw at.mistake("label " + shown(label) + " is not a class; classes are 0, 1, ...");
    const auto number = static_cast<std::size_t>(label);
    if (classes_ && number >= *classes_)
      throw at.mistake(
          "class " + std::to_string(number) + " is beyond the " + std::to_string(*classes_) +
          " classes" +
          (learned_ ? " of the first rows; give `classes` K" : ", which count from 0"));
    most_ = std::max(most_, number + 1);
  }
  bool known() const override { return classes_.has_value(); }
  void settle() override {
    if (classes_) return;
    classes_ = most_;
    learned_ = true;
  }
  double meaning(double label) const override { return label; }
  std::size_t classes() const override { return classes_.value_or(most_); }

 private:
  std::optional<std::size_t> classes_;
  std::size_t most_ = 2;
  bool learned_ = false;  // from the first rows
};

}  // namespace

std::unique_ptr<RowLabels> sign_labels() { return std::make_unique<SignLabels>(); }

std::unique_ptr<RowLabels> class_labels(std::optional<std::size_t> classes) {
  return std::make_unique<ClassLabels>(classes);
}

}  // namespace dasgd
