#include "dasgd/report/charts/pdf.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <vector>

namespace dasgd::svg {
namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

// Of Helvetica, from the blank on, in thousandths of its size (Adobe's metrics).
constexpr std::array<int, 95> widths{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

double number(const Attributes& at, std::string_view name, double otherwise = 0) {
  const auto found = at.find(name);
  if (found == at.end()) return otherwise;
  double value = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::string text_at(const Attributes& at, std::string_view name, const char* otherwise = "") {
  const auto found = at.find(name);
  return found == at.end() ? otherwise : found->second;
}

std::vector<double> numbers(std::string_view text) {
  std::vector<double> found;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    double value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec == std::errc{}) {
      found.push_back(value);
      at = read.ptr;
    } else {
      ++at;
    }
  }
  return found;
}

// Entities and UTF-8 as bytes of Latin-1.
std::string plain_text(std::string_view text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    if (byte == '&') {
      const std::size_t end = std::min(text.find(';', k), text.size() - 1);
      const std::string_view name = text.substr(k + 1, end - k - 1);
      if (name == "amp") plain += '&';
      if (name == "lt") plain += '<';
      if (name == "gt") plain += '>';
      k = end;
    } else if (byte < 0x80) {
      plain += text[k];
    } else if ((byte == 0xC2 || byte == 0xC3) && k + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++k]);
      plain += static_cast<char>(byte == 0xC2 ? next : next + 0x40);
    }
  }
  return plain;
}

double width_of(const std::string& text, bool bold) {
  double sum = 0;
  for (const char c : text) {
    const int at = static_cast<unsigned char>(c) - ' ';
    sum += at >= 0 && at < 95 ? widths[static_cast<std::size_t>(at)] : 556;
  }
  return sum / 1000 * (bold ? 1.06 : 1);
}

std::string colour(const std::string& name) {
  std::uint32_t value = 0;
  if (name.size() == 4) {
    std::from_chars(name.data() + 1, name.data() + 4, value, 16);
    const std::uint32_t r = value >> 8, g = (value >> 4) & 15, b = value & 15;
    value = (r * 17 << 16) | (g * 17 << 8) | b * 17;
  } else if (name.size() == 7) {
    std::from_chars(name.data() + 1, name.data() + 7, value, 16);
  } else if (name == "white") {
    value = 0xFFFFFF;
  }
  return fmt::format("{:.3f} {:.3f} {:.3f}", (value >> 16) / 255.0, ((value >> 8) & 255) / 255.0,
                     (value & 255) / 255.0);
}

/// Writes the content of the page, element by element.
class Painter {
 public:
  void element(const std::string& name, const Attributes& at, const std::string& text) {
    if (name == "line") line(at);
    if (name == "polyline" || name == "polygon") poly(at, name == "polygon");
    if (name == "rect") rect(at);
    if (name == "circle") circle(at);
    if (name == "path") path(at);
    if (name == "text") write(at, plain_text(text));
  }
  void open_group(const Attributes& at) {
    const auto move = numbers(text_at(at, "transform"));
    content += fmt::format("q 1 0 0 1 {:.2f} {:.2f} cm\n", move.empty() ? 0 : move[0],
                           move.size() < 2 ? 0 : move[1]);
  }
  void close_group() { content += "Q\n"; }

  std::string content;
  std::map<int, int> opacities;  // in thousandths, and their numbers

 private:
  std::string opacity(const Attributes& at) {
    const int value = static_cast<int>(1000 * number(at, "opacity", number(at, "fill-opacity", 1)));
    const int known = opacities.emplace(value, static_cast<int>(opacities.size())).first->second;
    return fmt::format("/O{} gs ", known);
  }
  // How the path that was just described is painted.
  void paint(const Attributes& at, const std::string& path, bool may_fill) {
    const std::string fill =
        text_at(at, "fill", may_fill && !at.contains("class") ? "#000" : "none");
    const bool grid = text_at(at, "class") == "g", ink = text_at(at, "class") == "i";
    const std::string stroke = text_at(at, "stroke", grid ? "#ddd" : ink ? "#000" : "none");
    const bool fills = may_fill && fill != "none", strokes = stroke != "none";
    if (!fills && !strokes) return;
    content += "q " + opacity(at);
    if (fills) content += colour(fill) + " rg ";
    if (strokes) {
      content += fmt::format("{} RG {:.2f} w ", colour(stroke), number(at, "stroke-width", 1));
      const auto dashes = numbers(text_at(at, "stroke-dasharray"));
      if (dashes.size() == 2) content += fmt::format("[{} {}] 0 d ", dashes[0], dashes[1]);
      content += "1 j ";
    }
    content += path + (fills && strokes ? " B Q\n" : fills ? " f Q\n" : " S Q\n");
  }

  void line(const Attributes& at) {
    paint(at,
          fmt::format("{:.2f} {:.2f} m {:.2f} {:.2f} l", number(at, "x1"), number(at, "y1"),
                      number(at, "x2"), number(at, "y2")),
          false);
  }
  void poly(const Attributes& at, bool closed) {
    const auto points = numbers(text_at(at, "points"));
    std::string path;
    for (std::size_t k = 0; k + 1 < points.size(); k += 2)
      path += fmt::format("{:.2f} {:.2f} {} ", points[k], points[k + 1], k == 0 ? "m" : "l");
    if (!path.empty()) paint(at, path + (closed ? "h" : ""), closed);
  }
  void rect(const Attributes& at) {
    if (text_at(at, "class") == "b") return;  // paper is white
    paint(at,
          fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} re", number(at, "x"), number(at, "y"),
                      number(at, "width"), number(at, "height")),
          true);
  }
  void circle(const Attributes& at) {
    const double x = number(at, "cx"), y = number(at, "cy"), r = number(at, "r"), c = 0.5523 * r;
    paint(at,
          fmt::format("{:.2f} {:.2f} m {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c "
                      "{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c "
                      "{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c "
                      "{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c h",
                      x + r, y, x + r, y + c, x + c, y + r, x, y + r, x - c, y + r, x - r, y + c,
                      x - r, y, x - r, y - c, x - c, y - r, x, y - r, x + c, y - r, x + r, y - c,
                      x + r, y),
          true);
  }
  // M, L, H, V, h, v, l and Z, which is all that charts use.
  void path(const Attributes& at) {
    const std::string d = text_at(at, "d");
    std::string out;
    double x = 0, y = 0;
    for (std::size_t k = 0; k < d.size();) {
      const std::size_t next = std::min(d.find_first_of("MLHVhvlZz", k + 1), d.size());
      const auto to = numbers(std::string_view(d).substr(k + 1, next - k - 1));
      const char what = d[k];
      const double first = to.empty() ? 0 : to[0], second = to.size() < 2 ? 0 : to[1];
      if (what == 'M' || what == 'L') x = first, y = second;
      if (what == 'H') x = first;
      if (what == 'V') y = first;
      if (what == 'h') x += first;
      if (what == 'v') y += first;
      if (what == 'l') x += first, y += second;
      out += what == 'Z' || what == 'z'
                 ? "h "
                 : fmt::format("{:.2f} {:.2f} {} ", x, y, what == 'M' ? "m" : "l");
      k = next;
    }
    if (!out.empty()) paint(at, out, text_at(at, "fill") != "" && text_at(at, "fill") != "none");
  }
  void write(const Attributes& at, const std::string& text) {
    if (text.empty()) return;
    const auto place = numbers(text_at(at, "transform"));
    const bool rotated = place.size() == 3;
    const double x = rotated ? place[0] : number(at, "x"), y = rotated ? place[1] : number(at, "y");
    const double size = number(at, "font-size", 12);
    const bool bold = number(at, "font-weight") >= 600;
    const std::string anchor = text_at(at, "text-anchor");
    const double shift = -size * width_of(text, bold) *
                         (anchor == "end"      ? 1
                          : anchor == "middle" ? 0.5
                                               : 0);
    std::string escaped;
    for (const char c : text) {
      if (c == '(' || c == ')' || c == '\\') escaped += '\\';
      escaped += c;
    }
    // The page counts upwards and pictures downwards: letters are flipped once more.
    content += fmt::format("BT {} rg /{} {:g} Tf {} {:.2f} {:.2f} Tm ({}) Tj ET\n",
                           colour(text_at(at, "fill", "#222")), bold ? "B" : "R", size,
                           rotated ? "0 -1 -1 0" : "1 0 0 -1", rotated ? x : x + shift,
                           rotated ? y - shift : y, escaped);
  }
};

/// Goes through the elements of a file.
class SvgReader {
 public:
  explicit SvgReader(std::string_view svg) : svg_(svg) {}

  void read() {
    while (next_tag()) {
      if (name_ == "svg") {
        const auto box = numbers(text_at(attributes_, "viewBox"));
        if (box.size() == 4) width = box[2], height = box[3];
      } else if (name_ == "g") {
        painter.open_group(attributes_);
      } else if (name_ == "/g") {
        painter.close_group();
      } else if (name_ == "text") {
        const Attributes at = attributes_;
        painter.element("text", at, inner_text());
      } else if (name_ == "title" || name_ == "style") {
        skip_to("</" + name_ + ">");
      } else {
        painter.element(name_, attributes_, "");
      }
    }
  }
  Painter painter;
  double width = 100, height = 100;

 private:
  bool next_tag() {
    const std::size_t begin = svg_.find('<', at_);
    if (begin == svg_.npos) return false;
    const std::size_t end = std::min(svg_.find('>', begin), svg_.size() - 1);
    std::string_view tag = svg_.substr(begin + 1, end - begin - 1);
    at_ = end + 1;
    name_ = tag.substr(0, tag.find_first_of(" /", 1));
    attributes_.clear();
    for (std::size_t k = tag.find('='); k != tag.npos; k = tag.find('=', k)) {
      const std::size_t from = tag.rfind(' ', k) + 1, value = k + 2;
      const std::size_t close = std::min(tag.find('"', value), tag.size());
      attributes_[std::string(tag.substr(from, k - from))] = tag.substr(value, close - value);
      k = close;
    }
    return true;
  }
  void skip_to(const std::string& what) {
    const std::size_t found = svg_.find(what, at_);
    at_ = found == svg_.npos ? svg_.size() : found + what.size();
  }
  // Without the tags in it.
  std::string inner_text() {
    const std::size_t end = std::min(svg_.find("</text>", at_), svg_.size());
    std::string text;
    bool inside = false;
    for (const char c : svg_.substr(at_, end - at_)) {
      if (c == '<') inside = true;
      if (!inside) text += c;
      if (c == '>') inside = false;
    }
    at_ = end;
    return text;
  }

  const std::string_view svg_;
  std::size_t at_ = 0;
  std::string name_;
  Attributes attributes_;
};

std::string font(const char* name) {
  return fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>",
                     name);
}

}  // namespace

std::string to_pdf(const std::string& svg, double scale) {
  SvgReader reader(svg);
  reader.read();
  const double width = reader.width * scale, height = reader.height * scale;
  const std::string content =
      fmt::format("{0:.4f} 0 0 {1:.4f} 0 {2:.2f} cm\n", scale, -scale, height) +
      reader.painter.content;
  std::string states;
  for (const auto& [value, k] : reader.painter.opacities)
    states += fmt::format("/O{} << /ca {:.3f} /CA {:.3f} >> ", k, value / 1000.0, value / 1000.0);
  const std::vector<std::string> objects{
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2f} {:.2f}] /Contents 4 0 R "
                  "/Resources << /Font << /R 5 0 R /B 6 0 R >> /ExtGState << {}>> >> >>",
                  width, height, states),
      fmt::format("<< /Length {} >>\nstream\n{}endstream", content.size(), content),
      font("Helvetica"),
      font("Helvetica-Bold")};
  std::string pdf = "%PDF-1.4\n", table = "0000000000 65535 f \n";
  for (std::size_t k = 0; k < objects.size(); ++k) {
    table += fmt::format("{:010} 00000 n \n", pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", k + 1, objects[k]);
  }
  const std::size_t start = pdf.size();
  return pdf +
         fmt::format("xref\n0 {}\n{}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n",
                     objects.size() + 1, table, objects.size() + 1, start);
}

}  // namespace dasgd::svg
