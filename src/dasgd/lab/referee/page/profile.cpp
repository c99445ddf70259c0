#include "dasgd/lab/referee/page/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "dasgd/lab/referee/page/curves.hpp"

namespace dasgd {
namespace {

constexpr double furthest = 32;
constexpr std::size_t most_profiles = 6;

// The area below its curve, over the logarithm.
double height(const Profile& profile) {
  double sum = 0;
  for (const double time : profile.times) sum += std::log(furthest / std::min(time, furthest));
  return profile.runs > 0 ? sum / static_cast<double>(profile.runs) : 0;
}

PlotSeries steps_of(const Profile& profile) {
  PlotSeries series{.name = profile.rival, .x = {1}, .y = {profile.share_within(1)}};
  for (const double time : profile.times) {
    if (time <= 1 || time > furthest) continue;
    series.x.insert(series.x.end(), {time, time});
    series.y.insert(series.y.end(), {series.y.back(), profile.share_within(time)});
  }
  series.x.push_back(furthest);
  series.y.push_back(series.y.back());
  return series;
}

}  // namespace

double Profile::share_within(double times_the_fastest) const {
  const auto end = std::upper_bound(times.begin(), times.end(), times_the_fastest);
  return runs > 0 ? static_cast<double>(end - times.begin()) / static_cast<double>(runs) : 0;
}

std::vector<Profile> profiles_of(const std::vector<JudgedWorld>& worlds) {
  std::vector<Profile> profiles;
  const JudgedWorld& any = worlds.front();
  for (std::size_t k = 0; k < any.rows.size(); ++k)
    profiles.push_back({.rival = any.rows[k].rival, .reference = any.judgements[k].reference});
  for (const JudgedWorld& world : worlds) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Judgement& j : world.judgements) fastest = std::min(fastest, j.median);
    if (!std::isfinite(fastest) || fastest <= 0) continue;
    for (std::size_t k = 0; k < profiles.size(); ++k)
      for (const ContestRun& run : world.rows[k].runs) {
        ++profiles[k].runs;
        if (run.reached) profiles[k].times.push_back(run.time_s / fastest);
      }
  }
  for (Profile& profile : profiles) std::sort(profile.times.begin(), profile.times.end());
  return profiles;
}

std::optional<PlotPanel> profile_panel(const std::vector<JudgedWorld>& worlds) {
  if (worlds.size() < 2) return std::nullopt;
  auto profiles = profiles_of(worlds);
  std::map<std::string, std::size_t> place;  // for its colour
  for (const Profile& profile : profiles) place.emplace(profile.rival, place.size());
  std::stable_sort(profiles.begin(), profiles.end(), [](const Profile& a, const Profile& b) {
    return a.reference != b.reference ? a.reference : height(a) > height(b);
  });
  profiles.resize(std::min(profiles.size(), most_profiles));
  std::sort(profiles.begin(), profiles.end(), [&](const Profile& a, const Profile& b) {
    return a.reference != b.reference ? a.reference : place.at(a.rival) < place.at(b.rival);
  });
  PlotPanel panel{.title = "all worlds",
                  .x_label = "times the median of the fastest",
                  .y_label = "share of runs that reached the goal",
                  .log_x = true,
                  .y_reach = {0, 1}};
  for (const Profile& profile : profiles) {
    panel.series.push_back(steps_of(profile));
    dress(panel.series.back(), place.at(profile.rival));
  }
  return panel;
}

}  // namespace dasgd
