#include "dasgd/cluster/note_reader.hpp"

#include <exception>
#include <utility>

namespace dasgd::cluster {

NoteReader::NoteReader(Read read, std::function<void(const std::string&)> failed)
    : read_(std::move(read)), failed_(std::move(failed)), thread_([this] { run(); }) {}

void NoteReader::add(int from, Bytes note) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  unread_.push_back({from, std::move(note)});
  added_.notify_one();
}

void NoteReader::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    added_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void NoteReader::run() noexcept {
  try {
    read_all();
  } catch (const std::exception& error) {
    failed_(error.what());
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

void NoteReader::read_all() {
  std::deque<Note> notes;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return finishing_ || !unread_.empty(); });
      if (unread_.empty()) return;
      std::swap(notes, unread_);
    }
    for (const Note& note : notes) read_(note.from, note.bytes);
    notes.clear();
  }
}

}  // namespace dasgd::cluster
