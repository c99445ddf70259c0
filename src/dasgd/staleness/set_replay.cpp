#include "dasgd/staleness/set_replay.hpp"

#include <algorithm>
#include <utility>

namespace dasgd {

ReplayedWorker SetReplay::worker(std::size_t i) {
  begin(i);
  ReplayedWorker result;
  while (t_ < index_.order(i).size()) next(result);
  return result;
}

void SetReplay::begin(std::size_t i) {
  i_ = i;
  t_ = 0;
  for (const std::size_t j : marked_) marks_[j] = {};
  for (const Number g : weighted_) weight_[g] = 0;
  marked_.clear();
  weighted_.clear();
}

void SetReplay::next(ReplayedWorker& result) {
  const Number g = index_.order(i_)[t_];
  absent_.clear();
  missing_.clear();
  reached_.clear();
  ++round_;
  reach(g);
  collect_absent(index_.origin(g));
  result.S.push_back(absent_.size() + missing_.size());
  weigh(result.S.back(), result.W);
  result.noncausal += missing_.empty() ? 0 : 1;
  // S_hat: everything that is missing brings its own compute set along.
  for (std::size_t k = 0; k < missing_.size(); ++k) reach(missing_[k]);
  if (!missing_.empty())
    for (const std::size_t j : reached_) collect_absent(j);
  result.S_hat.push_back(absent_.size() + missing_.size());
  ++t_;
  applied(g);
}

// Adds D(h) \ G_i^t to missing_; G_i^t \ D(h) is left to collect_absent.
void SetReplay::reach(Number h) {
  const std::size_t j = index_.origin(h);
  const std::uint32_t s = index_.origin_step(h);
  Marks& marks = mark(j);
  if (marks.round != round_) {
    advance(j);
    marks.round = round_;
    marks.least = s;
    marks.most = marks.missing_from;
    reached_.push_back(j);
  }
  marks.least = std::min(marks.least, s);
  if (s <= marks.most) return;
  collect_missing(j, std::exchange(marks.most, s), s);
}

void SetReplay::collect_missing(std::size_t j, std::uint32_t from, std::uint32_t to) {
  const auto& there = index_.order(j);
  for (std::uint32_t p = from; p < to; ++p)
    if (index_.position(i_, there[p]) >= t_) add(there[p], missing_);
}

void SetReplay::collect_absent(std::size_t j) {
  const auto& here = index_.order(i_);
  for (std::uint32_t p = marks_[j].present_from; p < t_; ++p)
    if (index_.position(j, here[p]) >= marks_[j].least) add(here[p], absent_);
}

void SetReplay::add(Number g, std::vector<Number>& to) {
  if (seen_in_[g] == round_) return;
  seen_in_[g] = round_;
  to.push_back(g);
}

// Moves the two marks of origin j past what no later gradient of j can bring into S.
void SetReplay::advance(std::size_t j) {
  Marks& marks = mark(j);
  const Number next = index_.number(j, marks.prefix);
  const std::uint32_t s = next == TraceIndex::never ? 0 : index_.origin_step(next);
  const auto& here = index_.order(i_);
  const auto& there = index_.order(j);
  auto& present = marks.present_from;
  while (present < t_ && index_.position(j, here[present]) < s) ++present;
  auto& missing = marks.missing_from;
  while (missing < there.size() && index_.position(i_, there[missing]) < t_) ++missing;
}

void SetReplay::weigh(std::uint64_t S, std::uint64_t& largest) {
  for (const auto* part : {&absent_, &missing_}) {
    for (const Number g : *part) {
      if (weight_[g] == 0) weighted_.push_back(g);
      weight_[g] += S;
      largest = std::max(largest, weight_[g]);
    }
  }
}

void SetReplay::applied(Number g) {
  std::uint32_t& prefix = mark(index_.origin(g)).prefix;
  for (Number next = index_.number(index_.origin(g), prefix);
       next != TraceIndex::never && index_.position(i_, next) < t_;
       next = index_.number(index_.origin(g), ++prefix)) {
  }
}

}  // namespace dasgd
