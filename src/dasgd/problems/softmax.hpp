// Softmax regression: cross-entropy of a linear classifier with bias.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"
#include "dasgd/problems/softmax_terms.hpp"

namespace dasgd {

/// x holds a weight per number and class, number after number, then a bias per class. L = largest
/// eigenvalue of Z^T Z / (2 m), Z the samples with a column of ones (Boehning).
class Softmax final : public Objective<float>, public Preprocessed, public HoldsSamples {
 public:
  /// Targets must be classes.
  explicit Softmax(std::shared_ptr<const PreparedSamples> samples)
      : samples_(std::move(samples)), classifier_{samples_->format().classes} {}

  std::size_t dimension() const override {
    return (rows(Part::train).width() + 1) * classifier_.classes;
  }
  std::size_t samples() const override { return samples_->count(Part::train); }
  std::vector<std::uint32_t> labels() const override { return samples_->labels(Part::train); }
  double gradient(std::span<const float> x, Rows rows, std::span<float> gradient) const override {
    return classifier_.gradient(this->rows(Part::train), x, rows, gradient);
  }
  double full_gradient(std::span<const float> x, std::span<float> gradient) const override {
    return classifier_.full_gradient(rows(Part::train), x, gradient);
  }
  double loss(std::span<const float> x) const override {
    return classifier_.loss(rows(Part::train), x);
  }
  HeldOut evaluate(std::span<const float> x) const override {
    return classifier_.examine(judged_rows(), x).held_out();
  }
  std::optional<std::size_t> right_answers(std::span<const float> x, Rows rows) const override {
    return classifier_.examine(PickedRows(this->rows(Part::train), rows), x).counts.right();
  }
  std::string evaluated_part() const override { return std::string(to_string(judged())); }
  std::vector<PartFigures> examine(std::span<const float> x) const override {
    std::vector<PartFigures> found;
    for (const Part part : all_parts) {
      if (samples_->count(part) == 0 || (part == Part::train && judged() != part)) continue;
      found.push_back(classifier_.examine(rows(part), x));
      found.back().part = to_string(part);
      found.back().from = samples_->origin(part);
      found.back().classes = samples_->preprocessing()->classes;
    }
    return found;
  }
  /// L takes many passes over the data: too many where memory may not hold it.
  KnownConstants known() const override {
    constexpr std::size_t most_numbers = std::size_t{1} << 28;
    const PartRows all = rows(Part::train);
    if (all.count() > most_numbers / std::max<std::size_t>(1, all.width()))
      return {.least_loss = 0};
    return {.smoothness = classifier_.smoothness(all), .least_loss = 0};
  }
  const Preprocessing* preprocessing() const override { return samples_->preprocessing(); }
  const PreparedSamples* prepared() const override { return samples_.get(); }

 private:
  struct PartRows final : softmax::ClassifiedRows {
    PartRows(const PreparedSamples& all, Part which) : samples(all), part(which) {}
    std::size_t count() const override { return samples.count(part); }
    std::size_t width() const override { return samples.preprocessing()->width(); }
    void fetch(Rows rows) const override { samples.fetch(part, rows); }
    void copy(std::uint32_t row, std::span<float> to) const override {
      samples.copy(part, row, to);
    }
    const float* kept_chunks() const override { return kept; }
    std::uint32_t label(std::uint32_t row) const override {
      return static_cast<std::uint32_t>(samples.target(part, row));
    }
    float weight(std::uint32_t row) const override { return samples.weight(label(row)); }
    const PreparedSamples& samples;
    const Part part;
    const float* kept = nullptr;
  };
  /// Some of them.
  struct PickedRows final : softmax::ClassifiedRows {
    PickedRows(PartRows all, Rows rows) : from(all), picked(rows) {}
    std::size_t count() const override { return picked.size(); }
    std::size_t width() const override { return from.width(); }
    void copy(std::uint32_t row, std::span<float> to) const override { from.copy(picked[row], to); }
    std::uint32_t label(std::uint32_t row) const override { return from.label(picked[row]); }
    const PartRows from;
    const Rows picked;
  };
  PartRows rows(Part part) const { return {*samples_, part}; }
  // Evaluation passes over the same rows again and again: they are scaled once, if they are few.
  PartRows judged_rows() const {
    constexpr std::size_t most_kept = std::size_t{1} << 24;
    PartRows all = rows(judged());
    if (all.count() > most_kept / std::max<std::size_t>(1, all.width())) return all;
    std::call_once(kept_once_, [&] { kept_ = softmax::chunks_to_keep(all); });
    all.kept = kept_.data();
    return all;
  }
  Part judged() const {
    return samples_->count(Part::validation) > 0 ? Part::validation : Part::train;
  }

  const std::shared_ptr<const PreparedSamples> samples_;
  const softmax::Classifier classifier_;
  mutable std::once_flag kept_once_;
  mutable std::vector<float> kept_;
};

}  // namespace dasgd
