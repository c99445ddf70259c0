// How often one address may connect, and how often a refusal is reported.
#pragma once

#include <array>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dasgd::tcp {

/// Its memory does not grow: addresses share buckets, by a hash that nobody outside knows.
class ConnectionLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ConnectionLimiter(double per_second, std::uint64_t salt) : per_second_(per_second), salt_(salt) {}

  /// Whether one more from there comes in: `per_second`, and twice that at once.
  bool admits(const boost::asio::ip::address& address, Time now);
  /// A connection was refused: the line that reports it, if it is to be reported.
  std::optional<std::string> refused(const std::string& remote, const std::string& why, Time now);
  std::uint64_t refused() const { return refused_; }

 private:
  struct Bucket {
    double spent = 0;  // connections that still count
    Time when{};
  };

  const double per_second_;
  const std::uint64_t salt_;
  std::array<Bucket, 1024> buckets_{};
  std::uint64_t refused_ = 0;
  Time reported_at_{};
};

}  // namespace dasgd::tcp
