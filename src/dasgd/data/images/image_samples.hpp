// Images for networks: normalised, and changed at random where that is wanted.
#pragma once

#include "dasgd/data/images/idx.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd {

/// Changes that leave an image what it is.
struct Augmentation {
  bool flip = false;     ///< left and right, every second time
  std::size_t crop = 0;  ///< moved by up to so many pixels each way, the border black
};

/// Each channel is shifted and scaled to mean 0 and deviation 1 over the training images.
class ImageSamples final : public Samples {
 public:
  explicit ImageSamples(ImageSet images, Augmentation augmentation = {});

  const SampleFormat& format() const override { return format_; }
  std::size_t count(Split split) const override { return images(split).count(); }
  void gather(Split split, Rows rows, Random* chance, SampleBatch& batch) const override;

 private:
  struct Scale {
    float factor = 1, offset = 0;
  };
  struct Change {
    bool flip = false;
    std::ptrdiff_t down = 0, right = 0;
  };
  const LabelledImages& images(Split s) const { return s == Split::train ? set_.train : set_.test; }
  Change draw(Random& chance) const;
  void copy(const std::uint8_t* from, float* to) const;
  void copy_changed(const std::uint8_t* from, float* to, Change change) const;

  const ImageSet set_;
  const Augmentation augmentation_;
  SampleFormat format_;
  std::vector<Scale> scales_;  // per channel
};

}  // namespace dasgd
