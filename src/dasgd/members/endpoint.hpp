// A member of an elastic run as its worker sees it: the transport of elastic runs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "dasgd/members/member.hpp"
#include "dasgd/transport/endpoint.hpp"

namespace dasgd::members {

/// The worker's end of a member. Members announce that they have stopped, and count names: the
/// total is known when all have agreed on them.
class MemberEndpoint final : public Endpoint {
 public:
  explicit MemberEndpoint(Member& member) : member_(member), protocol_(member.protocol()) {}

  void receive(std::size_t limit, Received& received) override { protocol_.take(limit, received); }
  std::shared_ptr<Gradient> blank() override { return protocol_.blank(); }
  void send(GradientPtr gradient) override {
    protocol_.own(std::move(gradient), member_.now());
    member_.nudge();
  }
  void applied(const Received&) override {}
  Nanoseconds now() const override { return member_.now(); }
  void announce(std::uint32_t) override { protocol_.stopped(member_.now()); }
  std::optional<std::uint64_t> announced_total() const override {
    if (!protocol_.is_over()) return std::nullopt;
    return protocol_.has_joined() ? protocol_.held().size() : 0;
  }
  void wait(std::chrono::milliseconds limit) override { protocol_.wait(limit); }
  void wake() override { protocol_.wake(); }
  std::size_t inbox_depth() const override { return protocol_.inbox_depth(); }
  std::uint64_t copies_dropped() const override { return protocol_.audit().copies_dropped; }
  Traffic sent() const override { return protocol_.audit().sent; }
  Nanoseconds waited() const override { return 0; }

 private:
  Member& member_;
  elastic::Protocol& protocol_;
};

}  // namespace dasgd::members
