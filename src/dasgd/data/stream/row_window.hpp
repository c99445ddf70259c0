// The last rows of a stream that may never end, and the queue of those that nobody has used yet.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "dasgd/core/held_out.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/data/rows/row.hpp"

namespace dasgd {

/// A fixed number of places for rows. One thread adds, workers take through a `WindowSource` each,
/// any thread looks. A row waits until a worker takes it, stays in its place while that worker uses
/// it, and then until the place is needed: the row that was used longest ago goes first. So memory
/// is bounded, each row is used once, and only the thread that adds ever waits.
class RowWindow {
 public:
  using RowPtr = std::shared_ptr<const Row>;

  explicit RowWindow(std::size_t places) : rows_(places) {}

  /// Adds a row, as soon as there is a place whose row has been used. False if a stop is requested
  /// first. A row that is not to be learned here is kept as if it had been used.
  bool add(Row row, const std::stop_token& stop, bool to_learn = true);
  /// There will be no further rows; with a failure, sources throw it when all rows are taken.
  void end(std::exception_ptr failure = nullptr);

  std::size_t places() const { return rows_.size(); }
  /// A row that was taken, for whoever took it.
  const Row& operator[](std::uint32_t place) const { return *rows_[place]; }
  /// Rows by their places, whoever uses them. Any thread.
  std::vector<RowPtr> at(std::span<const std::uint32_t> places) const;
  /// All rows that are kept now, those that wait included. Any thread.
  std::vector<RowPtr> kept() const;
  /// How many are, and how many have been added since the beginning. Any thread.
  ArrivalFigures figures() const;

 private:
  friend class WindowSource;
  struct RowConsumer {
    std::function<void()> wake;
    std::size_t wanted = 0;  // rows, of one that found too few; 0: it did not ask in vain
  };

  /// Gives back what `rows` holds and takes up to `batch`, or fewer at the end.
  Draw take(std::size_t batch, std::vector<std::uint32_t>& rows, RowConsumer& taker);
  void give_back(std::vector<std::uint32_t>& rows);
  void wake_takers();
  void join(RowConsumer& taker);
  void leave(RowConsumer& taker, std::vector<std::uint32_t>& rows);

  mutable std::mutex mutex_;  // guards all below; a row that is taken belongs to its taker
  std::vector<RowPtr> rows_;  // by place
  std::size_t filled_ = 0;    // places that hold a row
  std::uint64_t arrived_ = 0;
  std::deque<std::uint32_t> waiting_, used_;
  std::condition_variable_any place_used_;
  std::vector<RowConsumer*> takers_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

/// One worker's samples: whoever asks first gets the next rows of the window. It must outlive this.
class WindowSource final : public SampleSource {
 public:
  WindowSource(RowWindow& window, std::size_t batch);
  ~WindowSource() override;
  WindowSource(const WindowSource&) = delete;
  WindowSource& operator=(const WindowSource&) = delete;

  /// None now while fewer rows than a batch wait; the last batch of a stream may be smaller. Throws
  /// what has ended the stream, if that was a failure.
  Draw next() override;
  void on_arrival(std::function<void()> wake) override;

 private:
  RowWindow& window_;
  const std::size_t batch_;
  std::vector<std::uint32_t> rows_;
  RowWindow::RowConsumer taker_;
  std::uint64_t drawn_ = 0;
};

}  // namespace dasgd
