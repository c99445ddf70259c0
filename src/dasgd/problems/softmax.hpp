// Softmax regression on images: cross-entropy of a linear classifier with bias.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/images/idx.hpp"
#include "dasgd/problems/softmax_terms.hpp"

namespace dasgd {

/// x holds a weight per pixel and class, pixel after pixel, then a bias per class. Pixels are
/// scaled to [0, 1]. L = largest eigenvalue of Z^T Z / (2 m), Z the pixels with a column of ones
/// (Boehning).
class Softmax final : public Objective<float> {
 public:
  explicit Softmax(ImageSet images)
      : classifier_{images.classes},
        train_(std::move(images.train)),
        test_(std::move(images.test)) {}

  std::size_t dimension() const override { return (train_.width() + 1) * classifier_.classes; }
  std::size_t samples() const override { return train_.count(); }
  double gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const override {
    return classifier_.gradient(train_, x, rows, gradient);
  }
  double full_gradient(std::span<const float> x, std::span<float> gradient) const override {
    return classifier_.full_gradient(train_, x, gradient);
  }
  double loss(std::span<const float> x) const override { return classifier_.loss(train_, x); }
  /// On the test images.
  HeldOut evaluate(std::span<const float> x) const override {
    return classifier_.evaluate(test_, x);
  }
  KnownConstants known() const override {
    return {.smoothness = classifier_.smoothness(train_), .least_loss = 0};
  }

 private:
  struct Images final : softmax::ClassifiedRows {
    explicit Images(LabelledImages images) : data(std::move(images)) {}
    std::size_t count() const override { return data.count(); }
    std::size_t width() const override { return data.pixels_per_image; }
    void copy(std::uint32_t row, std::span<float> to) const override {
      const std::uint8_t* const from = data.pixels.data() + row * to.size();
      std::transform(from, from + to.size(), to.begin(), [](std::uint8_t pixel) {
        return static_cast<float>(pixel) * (1.0f / 255.0f);
      });
    }
    std::uint32_t label(std::uint32_t row) const override { return data.labels[row]; }
    LabelledImages data;
  };

  softmax::Classifier classifier_;
  Images train_, test_;
};

}  // namespace dasgd
