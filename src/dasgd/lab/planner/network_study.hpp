// Networks and workers that nobody here can rent, in virtual time: how long each way to exchange
// updates takes on them.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dasgd/lab/planner/network_case.hpp"

namespace dasgd {

struct NetworkStudy {
  /// DASGD over a mesh and a tree with messages of all formats, and its rivals.
  static std::vector<std::string> all_ways();
  struct Part {
    std::vector<std::size_t> workers;
    std::vector<double> numbers;  ///< d
    std::vector<double> cards;    ///< bytes per second
    NetworkEffort effort;
    double middle = 0.5;  ///< of the steps that are tried, times the number of workers
    std::vector<std::string> ways = all_ways();
  };
  std::vector<Part> parts;
  std::vector<std::size_t> rate_workers{4, 16, 64};
  Nanoseconds compute = 1'000'000'000;
  double goal = 0.01;  ///< of the first loss
  unsigned threads = 1;
  std::stop_token stop;

  /// Less than half a minute on one core.
  static NetworkStudy quick();
  /// To 256 workers, and 1,000 with one model: about an hour of one core.
  static NetworkStudy full();
};

/// One way in one case.
struct NetworkCell {
  NetworkCase network;
  NetworkRow row;
};

/// Gradients per second of all workers behind thin cards, relative to unlimited cards.
struct NetworkRate {
  std::size_t workers = 0;
  std::string relay;
  double card = 1;  ///< times the card of `thin-nic`, which sends one model in a gradient's time
  double gradients_per_second = 0, unlimited = 0;
  double ratio() const { return gradients_per_second / unlimited; }
};

struct NetworkFindings {
  std::vector<NetworkCell> cells;
  std::vector<NetworkRate> rates;
};

/// `progress` gets how many simulations of settings are done, and how many there are. Throws
/// ContestInterrupted when a stop is asked for.
NetworkFindings study_networks(const NetworkStudy& study,
                               const std::function<void(std::size_t, std::size_t)>& progress);

std::string to_csv(const NetworkFindings& findings);
std::string to_json(const NetworkFindings& findings);
/// Time to the goal over the speed of the cards, a panel for each number of workers and numbers.
std::string to_svg(const NetworkFindings& findings);

/// "dasgd, tree:4, int8".
std::string short_name(const std::string& way);

}  // namespace dasgd
