#include "dasgd/lab/rivals/open_library.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <optional>

#include "dasgd/base/digest.hpp"
#include "dasgd/lab/rivals/rival_library.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError(fmt::format("`compare.rival_library` {}: {}", path, why));
}

std::string bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) refuse(path, "no such file");
  if (!fs::is_regular_file(path, error)) refuse(path, "is not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// What dlerror says begins with the path.
std::string reason(const std::string& path, std::string text) {
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  return text;
}

template <typename Struct>
std::optional<Struct> part_of(const std::string& bytes, std::uint64_t at) {
  Struct found;
  if (at > bytes.size() || bytes.size() - at < sizeof(found)) return std::nullopt;
  std::memcpy(&found, bytes.data() + at, sizeof(found));
  return found;
}

// Of a file that is cut short dlopen maps what is not there, and whoever reads it is ended.
bool is_whole(const std::string& bytes) {
  const auto header = part_of<ElfW(Ehdr)>(bytes, 0);
  if (!header) return false;
  for (std::uint64_t k = 0; k < header->e_phnum; ++k) {
    const auto segment = part_of<ElfW(Phdr)>(bytes, header->e_phoff + k * sizeof(ElfW(Phdr)));
    if (!segment || segment->p_offset > bytes.size() ||
        bytes.size() - segment->p_offset < segment->p_filesz)
      return false;
  }
  return true;
}

template <typename Function>
Function* find_symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void require_usable_name(const RivalKind& kind) {
  const bool plain = !kind.name.empty() && std::ranges::all_of(kind.name, [](unsigned char c) {
    return std::isalnum(c) || std::strchr("-_.", c) != nullptr;
  });
  if (!plain || kind.name == "all")
    throw InputError(
        fmt::format("\"{}\" cannot be the name of a rival: use letters, digits, -, _ and .; "
                    "\"all\" is reserved",
                    kind.name));
}

}  // namespace

std::vector<RivalKind> open_rival_library(const std::string& path) {
  const std::string bytes = bytes_of(path);
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    refuse(path, "is not a shared object");
  if (!is_whole(bytes)) refuse(path, "is a truncated shared object");
  const std::string whole = fs::absolute(path).string();  // dlopen searches for a bare name
  // Never closed: the rivals' code is in there.
  void* const library = ::dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(path, "does not load: " + reason(whole, ::dlerror()));
  auto* const build = find_symbol<RivalLibraryBuild>(library, rival_library_build_symbol);
  auto* const add = find_symbol<AddRivals>(library, rivals_symbol);
  if (!build || !add)
    refuse(path, "has no rivals: DASGD_RIVALS of dasgd/lab/rivals/rival_library.hpp is missing");
  if (std::string(build()) != rival_library_build)
    refuse(path, fmt::format("belongs to another build of dasgd ({}; this one is {}); build it "
                             "with the headers of this one",
                             build(), rival_library_build));
  std::vector<RivalKind> kinds;
  add(kinds);
  if (kinds.empty()) refuse(path, "has no rivals: DASGD_RIVALS adds none");
  const std::string edition = digest_of(std::as_bytes(std::span(bytes)));
  for (RivalKind& kind : kinds) kind.edition = edition;
  return kinds;
}

std::vector<RivalKind> with_own(std::vector<RivalKind> known, std::vector<RivalKind> own) {
  for (RivalKind& kind : own) {
    require_usable_name(kind);
    if (std::ranges::count(known, kind.name, &RivalKind::name) > 0)
      throw InputError("there is a rival " + kind.name + " already; give yours another name");
    known.push_back(std::move(kind));
  }
  return known;
}

}  // namespace dasgd
