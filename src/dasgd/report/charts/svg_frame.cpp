#include "dasgd/report/charts/svg_frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace dasgd::svg {

void Range::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Axis::Axis(const Range& range, double from, double to, bool logarithmic)
    : log_(logarithmic && range.low > 0), from_(from), to_(to) {
  const bool empty = range.low > range.high;
  low_ = empty ? 0 : log_ ? std::log10(range.low) : range.low;
  high_ = empty ? 1 : log_ ? std::log10(range.high) : range.high;
  if (high_ - low_ < 1e-12) high_ = low_ + 1;
}

double Axis::at(double value) const {
  const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
  return from_ + (v - low_) / (high_ - low_) * (to_ - from_);
}

namespace {

// Round numbers from low to high, about five of them.
std::vector<double> round_numbers(double low, double high) {
  std::vector<double> result;
  const double raw = (high - low) / 5, size = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = size * (raw / size < 1.5   ? 1
                              : raw / size < 3.5 ? 2
                              : raw / size < 7.5 ? 5
                                                 : 10);
  const auto first = std::llround(std::ceil(low / step)),
             last = std::llround(std::floor(high / step + 1e-9));
  for (auto k = first; k <= last; ++k) result.push_back(static_cast<double>(k) * step);
  return result;
}

}  // namespace

std::vector<double> Axis::ticks() const {
  std::vector<double> result;
  if (log_) {
    const bool decades_only = high_ - low_ > 2.5;
    for (int e = static_cast<int>(std::floor(low_));
         e <= static_cast<int>(std::floor(high_ + 1e-9)); ++e)
      for (const double m : {1.0, 2.0, 5.0})
        if (const double l = e + std::log10(m);
            l >= low_ - 1e-9 && l <= high_ + 1e-9 && (m == 1.0 || !decades_only))
          result.push_back(std::pow(10.0, e) * m);
    // Of a short range hardly any of these: an axis without numbers cannot be read.
    if (result.size() > 1) return result;
    return round_numbers(std::pow(10.0, low_), std::pow(10.0, high_));
  }
  return round_numbers(low_, high_);
}

double width_of(const std::string& text) { return 7.2 * static_cast<double>(text.size()); }

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

namespace {

// As tables write numbers: 30,000 and 2e6.
std::string tick_text(double value) {
  std::string text = fmt::format("{:g}", value);
  if (const auto plus = text.find("e+"); plus != text.npos)
    text.erase(plus + 1, text[plus + 2] == '0' ? 2 : 1);
  else if (std::fabs(value) >= 1000 && text.find('.') == text.npos)
    text.insert(text.size() - 3, ",");
  return text;
}

// A label on top of another says nothing: every so many ticks there is room for one.
std::size_t labels_every(const Axis& x, const std::vector<double>& ticks) {
  constexpr double letter = 8;  // the widest digit at this size
  const auto have_room = [&](std::size_t every) {
    double taken = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < ticks.size(); k += every) {
      const double half = letter * static_cast<double>(tick_text(ticks[k]).size()) / 2;
      if (x.at(ticks[k]) - half < taken) return false;
      taken = x.at(ticks[k]) + half + letter;
    }
    return true;
  };
  std::size_t every = 1;
  while (!have_room(every)) ++every;
  return every;
}

}  // namespace

std::string frame(const Box& box, const std::string& title, const std::string& x_label,
                  const std::string& y_label, const Axis& x, const Axis* y) {
  std::string out = fmt::format(
      "<text x=\"{:.0f}\" y=\"18\" font-weight=\"600\" text-anchor=\"middle\">{}</text>\n",
      (box.left + box.right) / 2, escape(title));
  const std::vector<double> ticks = x.ticks();
  const std::size_t every = labels_every(x, ticks);
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    out += fmt::format("<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                       x.at(ticks[k]), box.top, box.bottom);
    if (k % every == 0)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                         x.at(ticks[k]), box.bottom + 16, tick_text(ticks[k]));
  }
  if (y)
    for (const double tick : y->ticks())
      out += fmt::format(
          "<line class=\"g\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          box.left, box.right, y->at(tick), box.left - 6, y->at(tick) + 4, tick_text(tick));
  out += fmt::format("<text x=\"{:.0f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (box.left + box.right) / 2, box.bottom + 34, escape(x_label));
  return out + fmt::format(
                   "<text transform=\"translate(14 {:.0f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   (box.top + box.bottom) / 2, escape(y_label));
}

std::string document(double width, double height, const std::string& title,
                     const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
      "<title>{2}</title>\n"
      "<style>.g{{stroke:#ddd}}text{{fill:#222}}.b{{fill:#fff}}.i{{stroke:#000}}"
      "@media(prefers-color-scheme:dark){{.g{{stroke:#333a45}}text{{fill:#d5dae3}}"
      ".b{{fill:#14171c}}.i{{stroke:#fff}}}}.c{{fill:#000}}</style>\n"
      "<rect class=\"b\" width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
      width, height, escape(title), content);
}

std::pair<double, double> size_of(const std::string& document) {
  constexpr std::string_view before = "viewBox=\"0 0 ";
  const char* const at = document.c_str() + document.find(before) + before.size();
  char* end = nullptr;
  const double width = std::strtod(at, &end);
  return {width, std::strtod(end, nullptr)};
}

std::string resized(const std::string& document, double width_mm) {
  const std::size_t from = document.find(" width=\""), to = document.find(" role=", from);
  const auto [width, height] = size_of(document);
  return fmt::format("{} width=\"{:.2f}mm\" height=\"{:.2f}mm\"{}", document.substr(0, from),
                     width_mm, width_mm * height / width, document.substr(to));
}

}  // namespace dasgd::svg
