// Lines as they come: from a pipe, or appended to a file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace dasgd {

/// A file descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Asking never blocks; waiting ends with a stop. Owned by one thread.
class LineInput {
 public:
  /// What an open descriptor gives until its end; `name` is for messages.
  static LineInput read(Descriptor from, const std::string& name);
  static LineInput read_standard_input();
  /// A file from its beginning, and then whatever is appended to it, without end. Only whole lines
  /// count. It is looked at ten times a second, so any file system will do. Throws InputError.
  static LineInput follow(const std::string& path);

  /// The next line, without its end, if it is there; valid until the next call. Throws InputError
  /// for what cannot be read, a line beyond 64 MiB and a followed file that becomes shorter.
  std::optional<std::string_view> next();
  /// Whether there will never be another line.
  bool ended() const { return ended_ && at_ == buffer_.size(); }
  /// Returns when it is worth asking again, or a stop is requested.
  void wait(const std::stop_token& stop) const;

  const std::string& name() const { return name_; }
  bool follows() const { return follows_; }

 private:
  LineInput(Descriptor from, std::string name, bool follows);
  std::optional<std::string_view> buffered();
  bool fill();

  Descriptor from_;
  std::string name_;
  bool follows_;
  std::array<Descriptor, 2> bell_;  // a pipe, out and in: a stop writes to it
  std::string buffer_;
  std::size_t at_ = 0;        // what was given out ends there
  std::size_t searched_ = 0;  // no line ends between the two
  std::uint64_t read_ = 0;    // bytes in all
  bool ended_ = false;
};

}  // namespace dasgd
