// Arrays in NumPy's .npy format, read where they lie.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dasgd/base/files/mapped_file.hpp"
#include "dasgd/data/number_rows.hpp"

namespace dasgd {

/// What the header of an array says. Numbers stand in C order, little-endian.
struct NpyHeader {
  char kind = 'f';       ///< f, i, u or b (bool) for numbers, U or S for texts
  std::size_t size = 4;  ///< bytes of one element
  std::vector<std::size_t> shape;
  std::size_t begin = 0;  ///< of the elements in the file

  /// Elements; those of one row, where the first dimension counts rows.
  std::size_t count() const;
  std::size_t width() const;
  bool is_text() const { return kind == 'U' || kind == 'S'; }
};

/// Throws InputError naming `path` for bytes that are not a readable array: of another type or
/// order, or shorter than their header says.
NpyHeader read_npy_header(std::string_view bytes, const std::string& path);

/// An array in a file that is mapped, or in memory: its own or somebody else's.
class NpyArray {
 public:
  explicit NpyArray(const std::string& path);
  NpyArray(std::string bytes, const std::string& path);
  /// A part of a file, like an array in an archive.
  NpyArray(std::shared_ptr<const MappedFile> file, std::size_t begin, std::size_t size,
           const std::string& path);

  /// Elements that are there already, for as long as `owner` lives. `name` is for messages.
  NpyArray(NpyHeader header, const char* elements, std::shared_ptr<const void> owner,
           const std::string& name)
      : path_(name), owner_(std::move(owner)), header_(std::move(header)), elements_(elements) {}

  const NpyHeader& header() const { return header_; }
  const std::string& path() const { return path_; }
  /// Elements from `first` on as floats.
  void copy(std::size_t first, std::span<float> to) const;
  double number(std::size_t at) const;
  /// An element of an array of texts, as UTF-8.
  std::string text(std::size_t at) const;
  /// Elements are read next: they come while the caller goes on. For large files; what is small
  /// is in memory soon.
  void fetch(std::size_t first, std::size_t last) const;
  /// Elements will not be read again soon.
  void release(std::size_t first, std::size_t last) const;
  void expect_any_order() const;

 private:
  const char* element(std::size_t at) const { return elements_ + at * header_.size; }
  std::size_t place(std::size_t at) const;  // of an element in the file

  std::string path_;
  std::shared_ptr<const MappedFile> file_;  // or
  std::shared_ptr<const void> owner_;       // of elements in memory
  NpyHeader header_;
  const char* elements_ = nullptr;
};

/// The rows of an array of numbers, without the column `skipped` where one is given. Pixels of
/// images with the channels last (height, width, channels) become planes.
class ArrayRows final : public NumberRows {
 public:
  struct Layout {
    std::size_t skipped = none;
    std::size_t channels_last = 0;  ///< so many; 0: they are not last
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
  };
  ArrayRows(NpyArray array, Layout layout) : array_(std::move(array)), layout_(layout) {}

  std::size_t rows() const override { return array_.header().shape.at(0); }
  std::size_t width() const override {
    return array_.header().width() - (layout_.skipped == Layout::none ? 0 : 1);
  }
  void copy(std::size_t row, std::span<float> to) const override;
  bool may_miss() const override { return array_.header().kind == 'f'; }
  void fetch(std::size_t row) const override {
    array_.fetch(row * array_.header().width(), (row + 1) * array_.header().width());
  }
  void release(std::size_t first, std::size_t last) const override {
    array_.release(first * array_.header().width(), last * array_.header().width());
  }
  void expect_any_order() const override { array_.expect_any_order(); }

 private:
  const NpyArray array_;
  const Layout layout_;
};

}  // namespace dasgd
