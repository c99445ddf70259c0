#include "terminal/final_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <unistd.h>

#include "terminal/exit_status.hpp"

namespace dasgd::app {
namespace {

[[noreturn]] void end() noexcept {
  static std::atomic<bool> said{false};
  while (said.exchange(true)) ::pause();  // another thread has the last word
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
    say_last("failed without an error message");
  } catch (const std::exception& error) {
    say_last(is_out_of_memory(error) ? out_of_memory : error.what());
  } catch (...) {
    say_last("something that is not an exception was thrown");
  }
#ifdef NDEBUG
  ::_exit(run_failed);
#else
  std::abort();  // whoever debugs wants to see where
#endif
}

}  // namespace

bool is_out_of_memory(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return true;
  if (const auto* const system = dynamic_cast<const std::system_error*>(&error))
    return system->code() == std::errc::not_enough_memory ||
           system->code() == std::errc::resource_unavailable_try_again;
  // LibTorch and its interpreter keep the words, not the type.
  return std::ranges::any_of(
      std::array{"out of memory", "can't allocate memory", "bad_alloc"},
      [&](const char* words) { return std::strstr(error.what(), words) != nullptr; });
}

void say_last(std::string_view what) noexcept {
  std::array<char, 1024> line{"dasgd: "};
  const std::size_t begin = std::strlen(line.data());
  const std::size_t length =
      std::min(what.substr(0, what.find('\n')).size(), line.size() - begin - 1);
  std::memcpy(line.data() + begin, what.data(), length);
  line[begin + length] = '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), begin + length + 1);
}

void install_last_words() noexcept { std::set_terminate(end); }

}  // namespace dasgd::app
