#include "dasgd/transport/tcp/connection_limiter.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <fmt/format.h>
#include <xxhash.h>

namespace dasgd::tcp {
namespace {

constexpr std::uint64_t reported_one_by_one = 8;
constexpr auto reported_again_after = std::chrono::minutes(1);
constexpr std::size_t network_bytes = 8;  // of IPv6: the owner of one address has the whole /64

std::uint64_t hash_of(const boost::asio::ip::address& address, std::uint64_t salt) {
  if (address.is_v6() && !address.to_v6().is_v4_mapped())
    return XXH3_64bits_withSeed(address.to_v6().to_bytes().data(), network_bytes, salt);
  const auto bytes = address.is_v4() ? address.to_v4().to_bytes()
                                     : boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped,
                                                                        address.to_v6())
                                           .to_bytes();
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), salt);
}

}  // namespace

bool ConnectionLimiter::admits(const boost::asio::ip::address& address, Time now) {
  Bucket& bucket = buckets_[hash_of(address, salt_) % buckets_.size()];
  const double passed = std::chrono::duration<double>(now - bucket.when).count();
  bucket.spent = std::max(0.0, bucket.spent - passed * per_second_);
  bucket.when = now;
  if (bucket.spent + 1 > 2 * per_second_) return false;
  bucket.spent += 1;
  return true;
}

std::optional<std::string> ConnectionLimiter::refused(const std::string& remote,
                                                      const std::string& why, Time now) {
  ++refused_;
  if (refused_ > reported_one_by_one && now - reported_at_ < reported_again_after)
    return std::nullopt;
  reported_at_ = now;
  const std::string line = fmt::format("refused {}: {}", remote, why);
  if (refused_ < reported_one_by_one) return line;
  return fmt::format("{} ({} so far; more are reported once a minute)", line, refused_);
}

}  // namespace dasgd::tcp
