// What a worker does for its protocol between two steps: copy its model, or go over to another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dasgd/base/digest.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

template <typename Real>
Model model_of(const Worker<Real>& worker) {
  const auto sums = std::as_bytes(worker.replica().sums());
  return {worker.applied(), worker.samples(),
          std::make_shared<const Bytes>(sums.begin(), sums.end())};
}

/// The digest of a model, as members send it to each other.
template <typename Real>
Hash digest_of(std::span<const Sum<Real>> sums) {
  const std::string text = dasgd::digest_of(std::as_bytes(sums));
  return Hash::parse(std::string_view(text).substr(text.find(':') + 1)).value();
}
template <typename Real>
Hash digest_of(const Worker<Real>& worker) {
  return digest_of<Real>(worker.replica().sums());
}
/// Of its model without these gradients.
template <typename Real>
Hash digest_of(const Worker<Real>& worker, const TakeDigest& task) {
  if (task.beyond.empty()) return digest_of(worker);
  const auto sums = sums_without<Real>(task.beyond, worker.replica().sums());
  return digest_of<Real>(std::span<const Sum<Real>>(sums));
}

/// `adopt(adoption, sums)` takes the worker over; `moved(report)` hears of a correction.
template <typename Real, typename Adopt, typename Moved>
void go_over(const Adoption& adoption, Protocol& protocol, Worker<Real>& worker, Nanoseconds now,
             Adopt&& adopt, Moved&& moved) {
  const auto held = worker.replica().sums();
  std::vector<Sum<Real>> room;
  const auto sums = carry_out<Real>(adoption, held, room);
  std::vector<Real> direction;
  if (adoption.mean) direction = correction<Real>(adoption, held, sums);
  std::optional<Model> before;
  if (adoption.to_remember) before = model_of(worker);
  adopt(adoption, sums);
  if (before) protocol.remember(std::move(*before), model_of(worker), now);
  if (!adoption.mean) return;
  try {
    moved(worker.move_by(direction));
  } catch (const Divergence&) {  // too far for one gradient: the union stays as it is
    protocol.cannot_correct();
  }
}

/// Whether the network's thread is to pump: a copy may be waited for. Whoever leaves hands over
/// what rounding has left as well.
template <typename Real, typename Adopt, typename Moved>
bool between_steps(Protocol& protocol, Worker<Real>& worker, Nanoseconds now, Adopt&& adopt,
                   Moved&& moved) {
  worker.send_pending();
  if (const auto format = protocol.chosen_format()) worker.send_in(*format);
  if (protocol.is_leaving() && worker.has_residual()) moved(worker.send_residual());
  Task task = protocol.next_task(now);
  if (std::holds_alternative<CopyModel>(task)) {
    protocol.copied(model_of(worker), now);
    return true;
  }
  if (const auto* digest = std::get_if<TakeDigest>(&task)) {
    protocol.digest_taken(digest_of(worker, *digest), now);
    return true;
  }
  const auto* adoption = std::get_if<Adoption>(&task);
  if (!adoption) return false;
  try {
    go_over(*adoption, protocol, worker, now, adopt, moved);
  } catch (...) {
    protocol.cannot_correct();
    throw;
  }
  return false;
}

}  // namespace dasgd::elastic
