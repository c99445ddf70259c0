#include "dasgd/settings/toml_file.hpp"
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  using namespace dasgd::config;
  static const fuzz::MemoryFile file;
  for (const Command command : {Command::train, Command::simulate})
    fuzz::try_reading([&] {
      Config config;
      read_config_file(command, file.write(fuzz::text_of(data, size)), {}, config);
      const std::string written = to_toml(command, config);
      Config again;  // what was read can be written and read again
      try {
        read_config_file(command, file.write(written), {}, again);
      } catch (const InputError& error) {
        throw std::logic_error(error.what());
      }
    });
  return 0;
}
