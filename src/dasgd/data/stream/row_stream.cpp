#include "dasgd/data/stream/row_stream.hpp"

#include <utility>

#include "dasgd/core/error.hpp"

namespace dasgd {

RowStream::RowStream(LineInput input, const Options& options, std::unique_ptr<RowLabels> labels)
    : part_(options.part),
      parts_(options.parts),
      input_(std::move(input)),
      text_(input_.name(), options.format, options.features),
      labels_(std::move(labels)),
      window_(options.places),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

std::optional<StreamShape> RowStream::shape(const std::stop_token& stop,
                                            std::optional<std::chrono::nanoseconds> limit) {
  std::unique_lock lock(mutex_);
  const auto is_settled = [this] { return shape_ || failure_; };
  if (limit) {
    shape_or_failure_.wait_for(lock, stop, *limit, is_settled);
  } else {
    shape_or_failure_.wait(lock, stop, is_settled);
  }
  if (!shape_ && failure_) std::rethrow_exception(failure_);
  return shape_;
}

void RowStream::run(const std::stop_token& stop) {
  try {
    read(stop);
    end(nullptr);
  } catch (...) {
    end(std::current_exception());
  }
}

void RowStream::read(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (const auto line = input_.next()) {
      take_line(*line, stop);
    } else if (input_.ended()) {
      if (first_.empty() && !begun_) throw InputError(input_.name() + ": holds no rows");
      begin(stop);
      return;
    } else {
      if (input_.follows() && !first_.empty()) begin(stop);
      input_.wait(stop);
    }
  }
}

void RowStream::take_line(std::string_view line, const std::stop_token& stop) {
  auto row = text_.read(line);
  if (!row) return;
  labels_->see(row->label, text_);
  if (begun_) {
    add(std::move(*row), stop);
    return;
  }
  first_.push_back(std::move(*row));
  if (knows_enough()) begin(stop);
}

bool RowStream::knows_enough() const {
  return first_.size() >= first_rows || (text_.features() && labels_->known());
}

void RowStream::begin(const std::stop_token& stop) {
  if (std::exchange(begun_, true)) return;
  text_.settle_features();
  labels_->settle();
  for (Row& row : std::exchange(first_, {})) {
    add(std::move(row), stop);
    publish_shape();  // after the first: f has a row from the beginning
  }
}

void RowStream::publish_shape() {
  {
    const std::lock_guard lock(mutex_);
    if (shape_) return;
    shape_ = {*text_.features(), labels_->classes(), labels_->signs()};
  }
  shape_or_failure_.notify_all();
}

void RowStream::add(Row row, const std::stop_token& stop) {
  row.label = labels_->meaning(row.label);
  window_.add(std::move(row), stop, rows_++ % parts_ == part_);
}

void RowStream::end(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
  }
  shape_or_failure_.notify_all();
  window_.end(failure);
}

}  // namespace dasgd
