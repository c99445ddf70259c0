#include "dasgd/base/files/write_all.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dasgd {
namespace {

std::string words_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is not an exception was thrown";
  }
}

}  // namespace

void WriteAll::note(const std::string& what, std::exception_ptr failure) {
  missing_.push_back(what);
  if (why_.empty()) why_ = words_of(failure);
}

void WriteAll::conclude(std::exception_ptr failure) const {
  if (missing_.empty() && failure) std::rethrow_exception(failure);
  if (missing_.empty()) return;
  // A run that ended because of a file is reported once.
  const std::string first = failure ? words_of(failure) : why_;
  throw WriteError(fmt::format("{}{}; not written: {}", first, first == why_ ? "" : "; " + why_,
                               fmt::join(missing_, ", ")));
}

}  // namespace dasgd
