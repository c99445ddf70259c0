#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(fuzz::text_of(data, size));
  fuzz::try_reading([&] {
    const TraceFile trace = read_trace(path);
    check_trace(trace.applications);
  });
  return 0;
}
