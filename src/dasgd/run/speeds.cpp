#include "dasgd/run/speeds.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

constexpr double largest_factor = 1e9;

double positive_part(const std::string& text, std::size_t from, const char* name) {
  const double value = parse_real(text.substr(from));
  if (!(value > 0)) throw InputError(fmt::format("\"{}\": {} must be positive", text, name));
  return value;
}

std::vector<double> read_speeds(const std::string& path) {
  std::ifstream file(path);
  if (!std::filesystem::is_regular_file(path) || !file)
    throw InputError(
        "\"" + path +
        "\" is neither lognormal:SIGMA nor pareto:ALPHA nor a file with a speed per line");
  std::vector<double> speeds;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      try {
        speeds.push_back(positive_part(word, 0, "a speed"));
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
      }
    }
  }
  return speeds;
}

}  // namespace

Speeds Speeds::parse(const std::string& text) {
  const std::string lognormal = "lognormal:", pareto = "pareto:";
  Speeds speeds;
  speeds.text_ = text;
  if (text.starts_with(lognormal)) {
    speeds.kind_ = Kind::lognormal;
    speeds.parameter_ = positive_part(text, lognormal.size(), "SIGMA");
  } else if (text.starts_with(pareto)) {
    speeds.kind_ = Kind::pareto;
    speeds.parameter_ = positive_part(text, pareto.size(), "ALPHA");
  } else {
    speeds.listed_ = read_speeds(text);
  }
  return speeds;
}

std::vector<double> Speeds::time_factors(std::size_t workers, std::uint64_t seed) const {
  if (kind_ == Kind::listed && listed_.size() < workers)
    throw InputError(
        fmt::format("{}: has {} speeds for {} workers", text_, listed_.size(), workers));
  std::vector<double> factors;
  for (std::size_t w = 0; w < workers; ++w) {
    Random random(seed, Purpose::speed, static_cast<std::uint32_t>(w));
    const double factor = kind_ == Kind::lognormal ? std::exp(parameter_ * random.normal())
                          : kind_ == Kind::pareto  ? std::pow(1 - random.uniform(), -1 / parameter_)
                                                   : 1 / listed_[w];
    if (!(factor <= largest_factor && factor >= 1 / largest_factor))
      throw InputError(fmt::format("speeds {}: worker {} would be {:.3g} times slower than usual",
                                   text_, w, factor));
    factors.push_back(factor);
  }
  return factors;
}

}  // namespace dasgd
