// What all SVG charts share: axes with ticks, a frame, colours.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace dasgd::svg {

/// Okabe and Ito's colours, which colour-blind readers can distinguish.
inline constexpr std::array<const char*, 8> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#7f7f7f", "#000000"};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value);
};

/// Maps values to pixels along one axis and says where its ticks are.
class Axis {
 public:
  Axis(const Range& range, double from, double to, bool logarithmic = false);
  double at(double value) const;
  std::vector<double> ticks() const;

 private:
  bool log_;
  double low_, high_, from_, to_;
};

/// The rectangle inside the axes.
struct Box {
  double left, top, right, bottom;
};

std::string escape(const std::string& text);

/// About how wide a text of a chart is, in pixels; never too small for usual letters.
double width_of(const std::string& text);

/// Title, labels, grid and ticks; without `y` the rows have names of their own.
std::string frame(const Box& box, const std::string& title, const std::string& x_label,
                  const std::string& y_label, const Axis& x, const Axis* y);

/// A whole file.
std::string document(double width, double height, const std::string& title,
                     const std::string& content);
/// Width and height of what `document` has made, in its units.
std::pair<double, double> size_of(const std::string& document);
/// The same to be shown in another width.
std::string resized(const std::string& document, double width_mm);

}  // namespace dasgd::svg
