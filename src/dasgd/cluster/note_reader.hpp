// Reads the control messages of other ranks, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "dasgd/base/bytes.hpp"

namespace dasgd::cluster {

/// The thread that receives only moves bytes here: trace lines, pages and checkpoints take their
/// time and other threads' locks, and gradients are not to wait for that.
class NoteReader {
 public:
  using Read = std::function<void(int from, const Bytes& note)>;

  /// `read` is called on the thread of the reader, in the order of the notes of each rank. What it
  /// throws is passed to `failed`, once, and ends the reading.
  NoteReader(Read read, std::function<void(const std::string& why)> failed);
  ~NoteReader() { finish(); }
  NoteReader(const NoteReader&) = delete;
  NoteReader& operator=(const NoteReader&) = delete;

  /// Never waits: whoever sends much (see TraceWindow) waits until it has been read.
  void add(int from, Bytes note);
  /// Returns when everything has been read; nothing is added any more.
  void finish();

 private:
  struct Note {
    int from;
    Bytes bytes;
  };
  void run() noexcept;
  void read_all();

  const Read read_;
  const std::function<void(const std::string&)> failed_;
  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable added_;
  std::deque<Note> unread_;
  bool finishing_ = false, ended_ = false;
  std::jthread thread_;
};

}  // namespace dasgd::cluster
