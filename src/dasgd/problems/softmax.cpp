#include "dasgd/problems/softmax.hpp"

#include <utility>

namespace dasgd {

void Softmax::Images::copy(std::uint32_t row, std::span<float> to) const {
  const std::uint8_t* const from = data.pixels.data() + row * to.size();
  for (std::size_t p = 0; p < to.size(); ++p) to[p] = static_cast<float>(from[p]) * (1.0f / 255.0f);
}

Softmax::Softmax(ImageSet images)
    : classifier_{images.classes}, train_(std::move(images.train)), test_(std::move(images.test)) {}

double Softmax::gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const {
  return classifier_.gradient(train_, x, rows, gradient);
}

double Softmax::full_gradient(std::span<const float> x, std::span<float> gradient) const {
  return classifier_.full_gradient(train_, x, gradient);
}

double Softmax::loss(std::span<const float> x) const { return classifier_.loss(train_, x); }

HeldOut Softmax::evaluate(std::span<const float> x) const { return classifier_.evaluate(test_, x); }

KnownConstants Softmax::known() const {
  return {.smoothness = classifier_.smoothness(train_), .least_loss = 0};
}

}  // namespace dasgd
