#include "dasgd/report/chrome_trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dasgd::report {
namespace {

std::string microseconds(Nanoseconds time) {
  return fmt::format("{}.{:03}", time / 1000, time % 1000);
}

}  // namespace

void ChromeTrace::begin_run(const std::string& name) {
  run_ = nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  ++process_;
  named_.clear();
}

void ChromeTrace::event(const std::string& json) {
  if (!file_) {
    file_.emplace(path_);
    file_->write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  } else {
    file_->write(",\n");
  }
  file_->write(json);
}

void ChromeTrace::add(const TraceLine& line) {
  const std::size_t worker = index(line.worker);
  const std::string where = fmt::format("\"pid\":{},\"tid\":{}", process_, worker);
  if (named_.empty())
    event(
        fmt::format(R"({{"ph":"M","name":"process_name",{},"args":{{"name":{}}}}})", where, run_));
  if (named_.insert(line.worker).second) {
    event(fmt::format(R"({{"ph":"M","name":"thread_name",{},"args":{{"name":"worker {}"}}}})",
                      where, worker));
    event(fmt::format(R"({{"ph":"M","name":"thread_sort_index",{},"args":{{"sort_index":{}}}}})",
                      where, worker));
  }
  const std::string args = fmt::format(R"("args":{{"origin":{},"seq":{},"t":{},"s":{},"S":{}}})",
                                       index(line.name.origin), line.name.sequence, line.step,
                                       line.origin_step, line.S.value_or(0));
  if (line.start) {
    event(fmt::format(R"({{"ph":"X","cat":"compute","name":"compute",{},"ts":{},"dur":{},{}}})",
                      where, microseconds(*line.start),
                      microseconds(std::max<Nanoseconds>(0, *line.time - *line.start)), args));
  } else {
    event(fmt::format(R"({{"ph":"i","s":"t","cat":"apply","name":"apply",{},"ts":{},{}}})", where,
                      microseconds(*line.time), args));
  }
}

bool ChromeTrace::finish() {
  if (!file_) return false;
  file_->write("\n]}\n");
  file_->commit();
  return true;
}

}  // namespace dasgd::report
