#include "dasgd/core/missing_updates.hpp"

#include <algorithm>

namespace dasgd {
namespace {

// Sums are halved when they are over so many arrivals and own updates.
constexpr double most_arrivals = 20, most_own = 4;
// So long, at most, whoever has not been heard of is taken for a worker of the same speed.
constexpr double longest_benefit_of_doubt = 32;
// Whoever is silent for so many of its usual intervals is gone, or has ended.
constexpr double intervals_until_gone = 10;

}  // namespace

MissingUpdates::MissingUpdates(WorkerId self, std::size_t workers)
    : self_(self), workers_(workers) {
  forget();
}

void MissingUpdates::forget() {
  windows_at_.reset();
  peers_.assign(workers_, {});
  first_arrival_ = longest_benefit_of_doubt / 2;
}

void MissingUpdates::applied(const GradientFacts& gradient, std::uint64_t own_updates) {
  windows_at_.reset();
  const auto own = static_cast<double>(own_updates);
  const auto known = static_cast<double>(gradient.compute_set.size_of(self_));
  const double lag = std::max(0.0, own - known);
  concurrent_pairs_ += static_cast<std::uint64_t>(lag);
  first_arrival_ = std::min(first_arrival_, own);
  const std::size_t j = index(gradient.name.origin);
  if (j >= peers_.size()) peers_.resize(j + 1);
  Peer& peer = peers_[j];
  const bool is_first = peer.all == 0, returns = !is_first && is_gone(peer, own);
  if (is_first) peer = {.first = own, .since = own};
  if (returns) peer = {.all = peer.all, .first = peer.first, .since = known};
  peer.all += 1;
  peer.last = own;
  peer.arrivals += is_first ? 0 : 1;
  if (known > 0 && !returns) {
    peer.lags += lag;
    peer.lagged += 1;
  }
  if (peer.arrivals < most_arrivals || own - peer.since < most_own) return;
  peer.since += (own - peer.since) / 2;
  for (double* sum : {&peer.arrivals, &peer.lags, &peer.lagged}) *sum /= 2;
}

MissingUpdates::Window MissingUpdates::window(const Peer& peer, double own) const {
  if (peer.all == 0) return workers_ > 0 && own <= 2 * first_arrival_ ? Window{1, own} : Window{};
  if (peer.lagged == 0)
    return own <= 2 * peer.first + 2 ? Window{1, std::max(0.0, own - peer.all)} : Window{};
  if (is_gone(peer, own)) return {};
  const double rho = peer.arrivals > 0 ? peer.arrivals / std::max(1.0, own - peer.since) : 1;
  return {rho, std::max(0.0, (peer.lags / peer.lagged - 1) / 2)};
}

bool MissingUpdates::is_gone(const Peer& peer, double own) {
  const double interval = peer.arrivals > 0 ? (peer.last - peer.since) / peer.arrivals : 1;
  return own - peer.last > intervals_until_gone * std::max(1.0, interval);
}

const std::vector<MissingUpdates::Window>& MissingUpdates::windows(std::uint64_t own) const {
  if (windows_at_ == own) return windows_;
  windows_.clear();
  for (std::size_t j = 0; j < peers_.size(); ++j) {
    if (j == index(self_)) continue;
    const Window missing = window(peers_[j], static_cast<double>(own));
    if (missing.rho > 0) windows_.push_back(missing);
  }
  windows_at_ = own;
  return windows_;
}

double MissingUpdates::weight(double age, double length, std::uint64_t own) const {
  double sum = 0;
  for (const Window& missing : windows(own))
    if (missing.length > age) sum += missing.rho * std::min(missing.length - age, length);
  return sum / length;
}

double MissingUpdates::oldest(std::uint64_t own) const {
  double most = 0;
  for (const Window& missing : windows(own)) most = std::max(most, missing.length);
  return most;
}

double MissingUpdates::delayed(std::uint64_t own) const {
  double sum = 0;
  for (const Window& missing : windows(own)) sum += missing.rho * missing.length;
  return sum;
}

double MissingUpdates::mean_window(std::uint64_t own) const {
  double sum = 0, rates = 0;
  for (const Window& missing : windows(own)) {
    sum += missing.rho * missing.length;
    rates += missing.rho;
  }
  return rates > 0 ? sum / rates : 0;
}

double MissingUpdates::expected(std::uint64_t own) const {
  double sum = 0;
  for (const Window& missing : windows(own)) sum += missing.rho * missing.length + 0.5;
  return sum;
}

}  // namespace dasgd
