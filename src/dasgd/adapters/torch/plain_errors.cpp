#include "dasgd/adapters/torch/plain_errors.hpp"

#include <algorithm>
#include <array>
#include <c10/util/Exception.h>
#include <new>
#include <sstream>
#include <string_view>

namespace dasgd::torch_adapter {

std::string one_line(const std::exception& error) {
  const auto* const torch_error = dynamic_cast<const c10::Error*>(&error);
  std::istringstream text(torch_error ? torch_error->what_without_backtrace() : error.what());
  std::string line, last, cause;
  while (std::getline(text, line)) {
    if (line.find_first_not_of(" \t^~-") == line.npos) continue;
    if (const auto at = line.find("RuntimeError: "); at != line.npos) cause = line.substr(at + 14);
    if (last.empty()) last = line;  // the first line says it, unless an interpreter names a cause
  }
  return cause.empty() ? last : cause;
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return true;
  const std::string_view text = error.what();  // the interpreter keeps the words, not the type
  return std::ranges::any_of(std::array{"out of memory", "can't allocate memory", "bad_alloc"},
                             [&](const char* words) { return text.find(words) != text.npos; });
}

void throw_if_machine_failed(const std::exception& error) {
  const std::string_view text = error.what();
  const auto says = [&](const char* words) { return text.find(words) != text.npos; };
  const bool of_gpu = says("CUDA") || says("the GPU");
  if (is_out_of_memory(error)) {
    if (!of_gpu) throw std::bad_alloc();
    throw std::runtime_error(
        "the GPU is out of memory; use a smaller `batch` or `pace.in_flight`, or fewer "
        "`workers`");
  }
  const std::string prefix = "the GPU cannot be used: ";
  if (of_gpu && (says("CUDA error") || says("CUDA driver")))
    throw std::runtime_error((text.starts_with(prefix) ? "" : prefix) + one_line(error));
}

}  // namespace dasgd::torch_adapter
