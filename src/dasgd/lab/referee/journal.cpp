#include "dasgd/lab/referee/journal.hpp"

#include <filesystem>
#include <fstream>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/input_error.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/lab/referee/records.hpp"

namespace dasgd {

Journal::Journal(std::string path, const std::string& identity, const std::string& today)
    : path_(std::move(path)) {
  using Json = nlohmann::ordered_json;
  std::ifstream file = open_file(path_);
  std::string line, whole;
  bool first = true;
  while (std::getline(file, line) && !file.eof()) {  // a last line without its end is half of one
    const Json json = parse_json<Json>(line);
    if (json.is_discarded()) {
      if (first)
        throw InputError(path_ +
                         ": its first line is damaged; choose another `output.out`, or remove it");
      ++damaged_;
      continue;
    }
    if (std::exchange(first, false)) {
      if (json.value("comparison", "") != identity)
        throw InputError(
            path_ +
            " is of another comparison, or a file that it reads has changed; choose another "
            "`output.out`, or remove it");
      date_ = json.value("date", "");
    } else {
      runs_[json.at("name").get<std::string>()] = run_from_json(json.at("run"));
    }
    whole += line + "\n";
  }
  file.close();
  found_ = runs_.size();
  if (first) {
    date_ = today;
    whole = Json{{"comparison", identity}, {"date", date_}}.dump() + "\n";
  }
  write_file(path_, whole);
}

ContestRun Journal::run(const std::string& name, const std::function<ContestRun()>& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = runs_.find(name); known != runs_.end()) return known->second;
  }
  ContestRun run = make();
  if (path_.empty()) return run;
  nlohmann::ordered_json line{{"name", name}, {"run", to_json(run)}};
  append(line.dump() + "\n");
  return run;
}

void Journal::append(const std::string& line) {
  const std::lock_guard lock(mutex_);
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << line << std::flush;
  if (!file) throw WriteError(path_ + ": cannot be written");
}

}  // namespace dasgd
