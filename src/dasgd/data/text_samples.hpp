// Text by characters: every character is to be guessed from those before it.
#pragma once

#include <array>
#include <string>

#include "dasgd/data/samples.hpp"

namespace dasgd {

/// The text is cut into windows; a sample is a window, its targets are the characters one further.
class TextSamples final : public Samples {
 public:
  /// `window` characters per sample; the last `share` of them are for validation. Throws InputError
  /// for a text of fewer than 20 windows.
  TextSamples(const std::string& text, std::size_t window, const std::string& path,
              double share = 0.1);
  /// A part from another text. Throws InputError for characters that the first one does not have.
  void add(Part part, const std::string& text, const std::string& path);

  const SampleFormat& format() const override { return format_; }
  const Preprocessing* preprocessing() const override { return &preprocessing_; }
  std::size_t count(Part part) const override { return piece(part).windows; }
  std::string origin(Part part) const override { return piece(part).from; }
  void gather(Part part, Rows rows, Random* chance, SampleBatch& batch) const override;

 private:
  struct Piece {
    std::vector<std::uint8_t> numbers;  // of the characters, in the order of their codes
    std::size_t windows = 0;
    std::string from;
  };
  const Piece& piece(Part part) const { return pieces_[static_cast<std::size_t>(part)]; }
  std::vector<std::uint8_t> to_numbers(const std::string& text, const std::string& path) const;

  std::array<int, 256> number_of_{};  // -1: not in the text
  std::array<Piece, 3> pieces_;
  SampleFormat format_;
  Preprocessing preprocessing_;
};

/// The bytes of a text. Throws InputError for a file that cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace dasgd
