#include "dasgd/data/arrays/npy.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

// The text behind 'key': in the header, which is a Python dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find("'" + std::string(key) + "'");
  if (at == dictionary.npos) return {};
  const std::size_t colon = dictionary.find(':', at);
  if (colon == dictionary.npos) return {};
  dictionary.remove_prefix(colon + 1);
  dictionary.remove_prefix(std::min(dictionary.find_first_not_of(' '), dictionary.size()));
  return dictionary;
}

std::vector<std::size_t> read_shape(std::string_view text, const std::string& path) {
  const auto fail = [&] { throw InputError(path + ": its header has an invalid shape"); };
  std::vector<std::size_t> shape;
  if (!text.starts_with('(')) fail();
  text = text.substr(1, std::min(text.find(')'), text.size()) - 1);
  while (text.find_first_of("0123456789") != text.npos) {
    text.remove_prefix(text.find_first_of("0123456789"));
    std::size_t size = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
    if (read.ec != std::errc{}) fail();
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  }
  return shape;
}

void read_type(std::string_view text, NpyHeader& header, const std::string& path) {
  const auto end = text.find('\'', 1);
  const std::string type(text.starts_with('\'') && end != text.npos ? text.substr(1, end - 1) : "");
  const auto is_strange = [](unsigned char c) { return c < ' ' || c > '~'; };
  if (type.size() > 64 || std::any_of(type.begin(), type.end(), is_strange))
    throw InputError(path + ": is damaged in its header");
  const auto refuse = [&](const std::string& why) {
    throw InputError(path + ": holds elements of type " + (type.empty() ? "object" : type) + ", " +
                     why);
  };
  if (type.size() < 3 || type.size() > 8) refuse("which cannot be read; save numbers or texts");
  if (type[0] == '>') refuse("which are big-endian; save little-endian numbers");
  header.kind = type[1];
  std::size_t size = 0;
  const auto read = std::from_chars(type.data() + 2, type.data() + type.size(), size);
  const std::string types = header.kind == 'f' ? "4 8" : header.kind == 'b' ? "1" : "1 2 4 8";
  const bool number = std::string("fiub").find(header.kind) != std::string::npos &&
                      types.find(std::to_string(size)) != types.npos && size < 10;
  if (read.ec != std::errc{} || read.ptr != type.data() + type.size() || size == 0 ||
      !(number || header.is_text()))
    refuse("which cannot be read; save float32, float64, whole numbers or texts");
  header.size = header.kind == 'U' ? 4 * size : size;
}

template <typename Number>
Number load(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

// Calls use(Number{}) with the type of the elements.
template <typename Use>
auto with_type(const NpyHeader& header, Use&& use) {
  const bool is_signed = header.kind == 'i';
  if (header.kind == 'f') return header.size == 4 ? use(float{}) : use(double{});
  switch (header.size) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

void append_utf8(std::uint32_t code, std::string& to) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18 & 7)), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
  }
}

}  // namespace

std::size_t NpyHeader::count() const {
  std::size_t all = 1;
  for (const std::size_t extent : shape) all *= extent;
  return all;
}

std::size_t NpyHeader::width() const {
  std::size_t all = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) all *= shape[k];
  return all;
}

NpyHeader read_npy_header(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12)
    throw InputError(path + ": is not a .npy file");
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
  const bool long_form = byte(6) >= 2;
  NpyHeader header;
  header.begin = long_form ? 12 : 10;
  header.begin += long_form ? std::size_t{byte(8)} | std::size_t{byte(9)} << 8 |
                                  std::size_t{byte(10)} << 16 | std::size_t{byte(11)} << 24
                            : std::size_t{byte(8)} | std::size_t{byte(9)} << 8;
  if (header.begin > bytes.size()) throw InputError(path + ": is truncated in its header");
  const auto dictionary = bytes.substr(0, header.begin).substr(long_form ? 12 : 10);
  read_type(value_of(dictionary, "descr"), header, path);
  header.shape = read_shape(value_of(dictionary, "shape"), path);
  if (value_of(dictionary, "fortran_order").starts_with("True") && header.shape.size() > 1)
    throw InputError(path + ": is in Fortran order; save numpy.ascontiguousarray(array)");
  std::size_t left = (bytes.size() - header.begin) / header.size;
  for (const std::size_t size : header.shape) {
    if (size == 0) throw InputError(path + ": holds no elements");
    left /= size;
  }
  if (left == 0) throw InputError(path + ": is truncated: its header promises more elements");
  return header;
}

NpyArray::NpyArray(const std::string& path)
    : path_(path),
      file_(std::make_shared<const MappedFile>(path)),
      header_(read_npy_header(file_->bytes(), path)),
      elements_(file_->bytes().data() + header_.begin) {}

NpyArray::NpyArray(std::string bytes, const std::string& path) : path_(path) {
  const auto memory = std::make_shared<const std::string>(std::move(bytes));
  header_ = read_npy_header(*memory, path);
  elements_ = memory->data() + header_.begin;
  owner_ = memory;
}

NpyArray::NpyArray(std::shared_ptr<const MappedFile> file, std::size_t begin, std::size_t size,
                   const std::string& path)
    : path_(path),
      file_(std::move(file)),
      header_(read_npy_header(file_->bytes().substr(begin, size), path)),
      elements_(file_->bytes().data() + begin + header_.begin) {}

void NpyArray::copy(std::size_t first, std::span<float> to) const {
  const char* const from = element(first);
  with_type(header_, [&](auto type) {
    using Number = decltype(type);
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = static_cast<float>(load<Number>(from + k * sizeof(Number)));
  });
}

double NpyArray::number(std::size_t at) const {
  return with_type(
      header_, [&](auto type) { return static_cast<double>(load<decltype(type)>(element(at))); });
}

std::string NpyArray::text(std::size_t at) const {
  std::string result;
  const char* const from = element(at);
  if (header_.kind == 'S') {
    result.assign(from, header_.size);
    result.resize(std::min(result.find('\0'), result.size()));
    return result;
  }
  for (std::size_t k = 0; k < header_.size; k += 4) {
    const auto code = load<std::uint32_t>(from + k);
    if (code == 0) break;
    append_utf8(code, result);
  }
  return result;
}

std::size_t NpyArray::place(std::size_t at) const {
  return static_cast<std::size_t>(element(at) - file_->bytes().data());
}

void NpyArray::fetch(std::size_t first, std::size_t last) const {
  constexpr std::size_t large = std::size_t{1} << 30;
  if (file_ && file_->bytes().size() > large)
    file_->fetch(place(first), (last - first) * header_.size);
}

void NpyArray::release(std::size_t first, std::size_t last) const {
  if (file_) file_->release(place(first), (last - first) * header_.size);
}

void NpyArray::expect_any_order() const {
  if (file_) file_->expect_any_order();
}

void ArrayRows::copy(std::size_t row, std::span<float> to) const {
  const std::size_t width = array_.header().width(), first = row * width;
  if (layout_.skipped != Layout::none) {
    array_.copy(first, to.first(layout_.skipped));
    array_.copy(first + layout_.skipped + 1, to.subspan(layout_.skipped));
    return;
  }
  array_.copy(first, to);
  if (const std::size_t channels = layout_.channels_last; channels > 1) {
    const std::vector<float> pixels(to.begin(), to.end());
    const std::size_t plane = width / channels;
    for (std::size_t p = 0; p < plane; ++p)
      for (std::size_t c = 0; c < channels; ++c) to[c * plane + p] = pixels[p * channels + c];
  }
}

}  // namespace dasgd
