#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ftw.h>
#include <iterator>
#include <string>

namespace dasgd::test {

/// A directory that goes away with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "dasgd-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  // Not by std::filesystem: PyTorch's LibTorch exports a remove_all of its own, which a test
  // program that links it may get, and which crashes.
  ~TemporaryDirectory() {
    const auto remove = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    ::nftw(path_.c_str(), remove, 16, FTW_DEPTH | FTW_PHYS);
  }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace dasgd::test
