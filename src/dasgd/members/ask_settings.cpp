#include "dasgd/members/ask_settings.hpp"

#include <boost/asio.hpp>
#include <fmt/format.h>
#include <utility>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/transport/tcp/sockets.hpp"

namespace dasgd::members {
namespace {

/// Says hello without facts and waits for a welcome.
class SettingsRequest final : public tcp::LinkEvents, public FrameSink {
 public:
  SettingsRequest(const MemberOptions& options, std::chrono::nanoseconds limit,
                  std::stop_token stop)
      : options_(options), limit_(limit), timer_(context_), again_(context_) {
    const auto origin = elastic::Origin::random();
    const Credentials who = credentials(options, "newcomer", origin);
    hello_ = {who.run, origin, "newcomer", "", ""};
    sockets_.emplace(context_, who.identity, *this);
    timer_.expires_after(limit);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) context_.stop();
    });
    dial();
    const std::stop_callback end(std::move(stop), [this] { context_.stop(); });
    context_.run();
    sockets_.reset();
  }

  elastic::Welcome answer() {
    if (welcome_) return std::move(*welcome_);
    throw InputError(why_.empty() ? "no answer at " + options_.contacts.front() : why_);
  }

 private:
  void dial() { sockets_->dial(options_.contacts[next_++ % options_.contacts.size()]); }
  void try_again() {
    if (done_) return;
    again_.expires_after(std::chrono::milliseconds(200));
    again_.async_wait([this](const boost::system::error_code& error) {
      if (!error) dial();
    });
  }
  void finish() {
    done_ = true;
    context_.stop();
  }

  FrameSink& linked(LinkId link, bool, const std::string&) override {
    roster_ = {};
    names_ = {};
    sockets_->send(link, elastic::encode(hello_, names_, roster_));
    return *this;
  }
  void dial_failed(LinkId, tcp::DialFailure kind, const std::string& why) override {
    why_ = why;
    if (kind == tcp::DialFailure::untrusted) return finish();
    if (!std::exchange(failed_, true) && options_.say)
      options_.say(fmt::format("{}; trying for {}", why, show_duration(limit_)));
    try_again();
  }
  std::optional<std::span<std::byte>> body(LinkId, std::span<const std::byte>, std::uint64_t bytes,
                                           Nanoseconds) override {
    return bytes == 0 ? std::optional(std::span<std::byte>()) : std::nullopt;
  }
  void received(LinkId, std::span<const std::byte> header, Nanoseconds) override {
    auto message = elastic::decode(header, names_, roster_);
    if (!message) {
      why_ = "the other side uses a different protocol; is it another version of dasgd?";
      return finish();
    }
    if (auto* welcome = std::get_if<elastic::Welcome>(&*message)) {
      welcome_ = std::move(*welcome);
      return finish();
    }
    if (const auto* refusal = std::get_if<elastic::Refusal>(&*message)) {
      why_ = refusal->why;
      return finish();
    }
  }
  void drained(LinkId) override {}
  void lost(LinkId, tcp::Loss, const std::string& why) override {
    if (why_.empty()) why_ = why;
    try_again();
  }

  const MemberOptions& options_;
  const std::chrono::nanoseconds limit_;
  boost::asio::io_context context_;
  boost::asio::steady_timer timer_, again_;
  std::optional<tcp::Sockets> sockets_;
  elastic::Hello hello_;
  elastic::Roster roster_;
  elastic::Introductions names_;
  std::size_t next_ = 0;
  std::optional<elastic::Welcome> welcome_;
  std::string why_;
  bool failed_ = false, done_ = false;
};

}  // namespace

std::optional<elastic::Welcome> ask_settings(const MemberOptions& options,
                                             std::chrono::nanoseconds limit, std::stop_token stop) {
  SettingsRequest question(options, limit, stop);
  if (stop.stop_requested()) return std::nullopt;
  return question.answer();
}

}  // namespace dasgd::members
