#include "dasgd/models/network_loader.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <new>

#include "dasgd/core/error.hpp"
#include "dasgd/models/networks_installed.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;

// The directory of the program, or of the library, that holds this code.
fs::path directory_of_this() {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<void*>(&directory_of_this), &info) != 0;
  const fs::path file = found && info.dli_fname ? info.dli_fname : "";
  return file.extension() == ".so" ? fs::absolute(file).parent_path()
                                   : fs::read_symlink("/proc/self/exe").parent_path();
}

constexpr const char* module_name = "dasgd_networks.so";

// Where the module is, or an empty path.
fs::path find_module() {
  const fs::path here = directory_of_this();
  for (const fs::path& place : {here, (here / DASGD_NETWORK_MODULE_DIRECTORY).lexically_normal()})
    if (fs::exists(place / module_name)) return place / module_name;
  return {};
}

fs::path require_module(const std::string& model) {
  const fs::path found = find_module();
  if (!found.empty()) return found;
  throw InputError(
      fmt::format("`model` {} needs LibTorch, and its module is not installed: there is no {}; "
                  "install the package dasgd-networks, or libtorch-dev and build again",
                  model, (directory_of_this() / module_name).string()));
}

template <typename Function>
Function* find_symbol(void* module, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(module, name));
}

}  // namespace

bool networks_are_installed() { return !find_module().empty(); }

NetworkModule load_networks(const std::string& model) {
  const std::string path = require_module(model).string();
  // Never closed: LibTorch cannot be unloaded, and the networks' code is in there.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    const std::string why = ::dlerror();
    if (why.ends_with("Cannot allocate memory") ||
        why.ends_with("failed to map segment from shared object"))
      throw std::bad_alloc();
    throw InputError(
        fmt::format("`model` {} needs LibTorch, which does not load: {}; install the LibTorch that "
                    "dasgd was built with, or build again",
                    model, why));
  }
  auto* const build = find_symbol<NetworkModuleBuild>(module, network_module_build_symbol);
  auto* const make = find_symbol<MakeNetwork>(module, make_network_symbol);
  auto* const open = find_symbol<OpenNetwork>(module, open_network_symbol);
  if (!build || !make || !open || std::string(build()) != network_module_build)
    throw InputError(
        fmt::format("{}: belongs to another build of dasgd ({}; this one is {}); build or install "
                    "both again",
                    path, build ? build() : "unknown", network_module_build));
  return {make, open};
}

}  // namespace dasgd
