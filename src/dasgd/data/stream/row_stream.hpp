// A thread that reads rows as they come and hands them to workers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/data/rows/row_labels.hpp"
#include "dasgd/data/rows/row_text.hpp"
#include "dasgd/data/stream/line_input.hpp"
#include "dasgd/data/stream/row_window.hpp"

namespace dasgd {

/// What has to be known of a stream before anybody can learn from it.
struct StreamShape {
  std::size_t features = 0, classes = 0;
  std::vector<std::string> signs = {};  ///< of `sign_labels`: how -1 and +1 are written
};

/// Rows of text in a window. What is not given is inferred from the first rows: as many as it
/// takes, at most 1,000; of a file that is followed, those that it has at the beginning. A mistake
/// in a line ends the stream there.
class RowStream {
 public:
  struct Options {
    std::optional<RowFormat> format;  ///< nothing: the first line decides
    std::optional<std::size_t>
        features;                 ///< nothing: the first row of CSV decides; else the first rows
    std::size_t places = 16'384;  ///< rows that are kept
    /// Of `parts` readers of the same rows this one learns from every so many of them.
    std::size_t part = 0, parts = 1;
  };
  RowStream(LineInput input, const Options& options, std::unique_ptr<RowLabels> labels);

  /// Waits for the first rows; then at least one is in the window. Nothing if a stop is requested
  /// or `limit` is over before. Throws what is wrong with them, an end before the first included.
  std::optional<StreamShape> shape(const std::stop_token& stop,
                                   std::optional<std::chrono::nanoseconds> limit = {});

  RowWindow& window() { return window_; }
  const RowWindow& window() const { return window_; }

 private:
  static constexpr std::size_t first_rows = 1000;

  void run(const std::stop_token& stop);
  void read(const std::stop_token& stop);
  void take_line(std::string_view line, const std::stop_token& stop);
  bool knows_enough() const;
  void begin(const std::stop_token& stop);
  void publish_shape();
  void add(Row row, const std::stop_token& stop);
  void end(std::exception_ptr failure);

  const std::size_t part_, parts_;
  std::uint64_t rows_ = 0;  // that were added
  LineInput input_;
  RowText text_;
  const std::unique_ptr<RowLabels> labels_;
  RowWindow window_;
  std::vector<Row> first_;  // until enough is known
  bool begun_ = false;

  std::mutex mutex_;  // guards the next
  std::condition_variable_any shape_or_failure_;
  std::optional<StreamShape> shape_;
  std::exception_ptr failure_;

  std::jthread thread_;  // last: it uses all above
};

}  // namespace dasgd
