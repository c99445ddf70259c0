// Room on a disk for what has to be written at the end.
#pragma once

#include <cstdint>
#include <string>

namespace dasgd {

/// Keeps `bytes` of a disk from being used by others until they are needed. The room is that of a
/// file without a name, so it is free again when the process is gone, however it ends. A file
/// system that cannot set room aside (fallocate) reserves nothing.
class ReservedRoom {
 public:
  /// Throws WriteError where so much room is not there.
  ReservedRoom(const std::string& directory, std::uint64_t bytes);
  ~ReservedRoom() { release(); }
  ReservedRoom(const ReservedRoom&) = delete;
  ReservedRoom& operator=(const ReservedRoom&) = delete;

  /// Gives the room back: what is written next finds it.
  void release();

 private:
  int descriptor_ = -1;
};

}  // namespace dasgd
