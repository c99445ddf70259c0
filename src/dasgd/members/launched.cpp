#include "dasgd/members/launched.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "dasgd/base/files/atomic_file.hpp"

namespace dasgd::members {
namespace {

constexpr const char *directory_name = "DASGD_MEMBER_DIR", *token_name = "DASGD_TOKEN_FILE",
                     *listen_name = "DASGD_LISTEN", *begins_name = "DASGD_BEGINS",
                     *join_name = "DASGD_JOIN", *name_name = "DASGD_MEMBER_NAME",
                     *advertise_name = "DASGD_ADVERTISE", *gone_name = "DASGD_GONE_AFTER";
constexpr const char* model_sign = "has-model";

std::string text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

void Launched::put_into_environment() const {
  ::setenv(directory_name, directory.c_str(), 1);
  ::setenv(token_name, token_file.c_str(), 1);
  ::setenv(listen_name, listen.c_str(), 1);
  ::setenv(begins_name, begins ? "1" : "", 1);
  ::setenv(join_name, join_at.c_str(), 1);
  ::setenv(name_name, name.c_str(), 1);
  ::setenv(advertise_name, advertise.c_str(), 1);
  ::setenv(gone_name, gone ? std::to_string(*gone).c_str() : "", 1);
}

std::optional<Launched> Launched::from_environment() {
  if (text_of(directory_name).empty()) return std::nullopt;
  Launched launched{text_of(directory_name),       text_of(token_name), text_of(listen_name),
                    !text_of(begins_name).empty(), text_of(join_name),  text_of(name_name),
                    text_of(advertise_name)};
  if (const std::string gone = text_of(gone_name); !gone.empty()) launched.gone = std::stoll(gone);
  return launched;
}

std::vector<std::string> launched_addresses(const std::filesystem::path& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::ifstream file(entry.path() / "address");
    if (std::string line; std::getline(file, line) && !line.empty()) found.push_back(line);
  }
  return found;
}

void announce_model(const Launched& launched) {
  write_file((launched.directory / model_sign).string(), "");
}

bool model_is_here(const std::filesystem::path& directory) {
  return std::filesystem::exists(directory / model_sign);
}

MemberOptions member_options(const Launched& launched, const std::stop_token& stop) {
  MemberOptions options;
  options.name = launched.name.empty() ? launched.directory.filename().string() : launched.name;
  options.listen = launched.listen;
  options.advertise = launched.advertise;
  if (launched.gone) options.patience.gone = *launched.gone;
  options.directory = launched.directory;
  options.token = tcp::Token::from_file_or_environment(launched.token_file);
  if (launched.begins) return options;
  std::istringstream given(launched.join_at);
  for (std::string address; std::getline(given, address, ',');) options.contacts.push_back(address);
  for (const auto others = launched.directory.parent_path();;) {
    for (std::string& address : launched_addresses(others))
      options.contacts.push_back(std::move(address));
    if (!options.contacts.empty()) return options;
    if (stop.stop_requested()) throw Stopped{};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until a file is there
  }
}

}  // namespace dasgd::members
