#include "dasgd/staleness/ledger.hpp"

#include <algorithm>

namespace dasgd {

CertificateWeights::CertificateWeights(std::size_t workers) : windows_(workers), known_(workers) {}

CertificateWeights::CertificateWeights(std::size_t workers, const CausalWeights& before)
    : CertificateWeights(workers) {
  largest_ = before.largest();
  for (std::size_t o = 0; o < workers; ++o) windows_[o].first = before.known().prefix(worker_id(o));
  for (const CausalWeights::Weighed& applied : before.kept())
    if (applied.name.sequence >= windows_[index(applied.name.origin)].first)
      add_range(applied.name.origin, applied.name.sequence, applied.name.sequence + 1,
                applied.weight);
}

void CertificateWeights::add(const GradientSet& before, const GradientSet& compute_set,
                             std::uint64_t staleness) {
  const auto add = [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
    add_range(origin, first, last, staleness);
  };
  before.for_each_range_missing_from(compute_set, add);
  compute_set.for_each_range_missing_from(before, add);
}

void CertificateWeights::add_range(WorkerId origin, std::uint32_t first, std::uint32_t last,
                                   std::uint64_t weight) {
  Window& window = windows_[index(origin)];
  if (window.steps.size() < last - window.first + 1)
    window.steps.resize(last - window.first + 1, 0);
  window.steps[first - window.first] += static_cast<std::int64_t>(weight);
  window.steps[last - window.first] -= static_cast<std::int64_t>(weight);
}

std::uint64_t CertificateWeights::largest() const {
  auto most = static_cast<std::int64_t>(largest_);
  for (const Window& window : windows_) {
    std::int64_t weight = 0;
    for (const std::int64_t step : window.steps) most = std::max(most, weight += step);
  }
  return static_cast<std::uint64_t>(most);
}

void CertificateWeights::note(WorkerId origin, const GradientSet& compute_set) {
  if (known_.note(origin, compute_set)) forget_known();
}

void CertificateWeights::forget_known() {
  for (std::size_t o = 0; o < windows_.size(); ++o) {
    Window& window = windows_[o];
    const std::uint32_t known = known_.prefix(worker_id(o));
    if (known <= window.first) continue;
    std::int64_t weight = 0;
    auto most = static_cast<std::int64_t>(largest_);
    const std::size_t drop = std::min<std::size_t>(known - window.first, window.steps.size());
    for (std::size_t k = 0; k < drop; ++k) most = std::max(most, weight += window.steps[k]);
    largest_ = static_cast<std::uint64_t>(most);
    window.steps.erase(window.steps.begin(),
                       window.steps.begin() + static_cast<std::ptrdiff_t>(drop));
    if (!window.steps.empty()) window.steps.front() += weight;
    window.first = known;
  }
}

Staleness Ledger::record(const GradientFacts& gradient) {
  const std::uint64_t missing = gradient.compute_set.count_missing_from(applied_);
  const std::uint64_t S = applied_.size() + 2 * missing - gradient.origin_step;
  Staleness result{S, std::nullopt};
  S_.add(S);
  weigh(gradient, S, missing == 0);
  if (loose_)
    for (const std::uint64_t S_hat :
         loose_->apply(gradient.name, gradient.compute_set, applied_, missing > 0))
      S_hat_.add(S_hat);
  if (missing == 0) {
    result.S_hat = S;
    S_hat_.add(S);
  } else {
    ++noncausal_;
  }
  applied_.insert(gradient.name);
  return result;
}

void Ledger::weigh(const GradientFacts& gradient, std::uint64_t S, bool causal) {
  if (looking_back_ && causal) return looking_back_->apply(gradient, S);
  if (looking_back_ && applied_.prefixes().size() <= most_workers_with_weights)
    weights_.emplace(applied_.prefixes().size(), *looking_back_);
  looking_back_.reset();
  if (!weights_) return;
  if (S > 0) weights_->add(applied_, gradient.compute_set, S);
  if (gradient.name.sequence == applied_.prefix(gradient.name.origin))
    weights_->note(gradient.name.origin, gradient.compute_set);
}

}  // namespace dasgd
