#include "dasgd/data/stream/row_window.hpp"

#include <algorithm>
#include <utility>

namespace dasgd {

bool RowWindow::add(Row row, const std::stop_token& stop, bool to_learn) {
  auto kept = std::make_shared<const Row>(std::move(row));
  std::unique_lock lock(mutex_);
  const auto has_place = [this] { return filled_ < rows_.size() || !used_.empty(); };
  if (!place_used_.wait(lock, stop, has_place)) return false;
  std::uint32_t place = 0;
  if (filled_ < rows_.size()) {
    place = static_cast<std::uint32_t>(filled_++);
  } else {
    place = used_.front();
    used_.pop_front();
  }
  rows_[place].swap(kept);
  ++arrived_;
  (to_learn ? waiting_ : used_).push_back(place);
  wake_takers();
  return true;
}

void RowWindow::end(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  failure_ = failure;
  wake_takers();
}

std::vector<RowWindow::RowPtr> RowWindow::at(std::span<const std::uint32_t> places) const {
  std::vector<RowPtr> found;
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t place : places) found.push_back(rows_[place]);
  return found;
}

std::vector<RowWindow::RowPtr> RowWindow::kept() const {
  const std::lock_guard lock(mutex_);
  return {rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(filled_)};
}

ArrivalFigures RowWindow::figures() const {
  const std::lock_guard lock(mutex_);
  return {.arrived = arrived_, .kept = filled_};
}

Draw RowWindow::take(std::size_t batch, std::vector<std::uint32_t>& rows, RowConsumer& taker) {
  const std::lock_guard lock(mutex_);
  give_back(rows);
  if (waiting_.size() < batch && !ended_) {
    taker.wanted = batch;
    return Draw::none_now();
  }
  if (waiting_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return Draw::no_more();
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(batch, waiting_.size()));
  rows.assign(waiting_.begin(), waiting_.begin() + count);
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  return Draw::batch(rows);
}

void RowWindow::give_back(std::vector<std::uint32_t>& rows) {
  used_.insert(used_.end(), rows.begin(), rows.end());
  if (!rows.empty()) place_used_.notify_one();
  rows.clear();
}

// With the lock held: so no thread is woken that has left.
void RowWindow::wake_takers() {
  for (RowConsumer* const taker : takers_) {
    const bool worth_it = taker->wanted > 0 && (ended_ || waiting_.size() >= taker->wanted);
    if (!worth_it) continue;
    taker->wanted = 0;
    if (taker->wake) taker->wake();
  }
}

void RowWindow::join(RowConsumer& taker) {
  const std::lock_guard lock(mutex_);
  takers_.push_back(&taker);
}

void RowWindow::leave(RowConsumer& taker, std::vector<std::uint32_t>& rows) {
  const std::lock_guard lock(mutex_);
  std::erase(takers_, &taker);
  give_back(rows);
}

WindowSource::WindowSource(RowWindow& window, std::size_t batch) : window_(window), batch_(batch) {
  window_.join(taker_);
}

WindowSource::~WindowSource() { window_.leave(taker_, rows_); }

Draw WindowSource::next() {
  Draw draw = window_.take(batch_, rows_, taker_);
  if (draw.kind == Draw::Kind::batch) draw.number = drawn_++;
  return draw;
}

void WindowSource::on_arrival(std::function<void()> wake) {
  const std::lock_guard lock(window_.mutex_);
  taker_.wake = std::move(wake);
}

}  // namespace dasgd
