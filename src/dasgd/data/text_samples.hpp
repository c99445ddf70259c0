// Text by characters: every character is to be guessed from those before it.
#pragma once

#include <array>
#include <string>

#include "dasgd/data/samples.hpp"

namespace dasgd {

/// The text is cut into windows; a sample is a window, its targets are the characters one further.
/// The last tenth is for testing.
class TextSamples final : public Samples {
 public:
  /// `window` characters per sample. Throws InputError for a text of fewer than 20 windows.
  TextSamples(std::string text, std::size_t window, const std::string& path);

  const SampleFormat& format() const override { return format_; }
  std::size_t count(Split split) const override { return split == Split::train ? train_ : test_; }
  void gather(Split split, Rows rows, Random* chance, SampleBatch& batch) const override;

 private:
  std::vector<std::uint8_t> numbers_;  // of the characters, in the order of their codes
  SampleFormat format_;
  std::size_t train_ = 0, test_ = 0;
};

/// Throws InputError for a file that cannot be read.
TextSamples read_text_samples(const std::string& path, std::size_t window);

}  // namespace dasgd
