#include "dasgd/members/member.hpp"

#include <boost/asio.hpp>
#include <chrono>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/one_line.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/control_socket.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/members/history.hpp"
#include "dasgd/transport/tcp/sockets.hpp"

namespace dasgd::members {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

tcp::Origin as_bytes(const elastic::Origin& origin) {
  tcp::Origin bytes;
  static_assert(sizeof(bytes) == sizeof(origin));
  std::memcpy(bytes.data(), &origin, sizeof(origin));
  return bytes;
}

std::string name_of(const MemberOptions& options) {
  if (!options.name.empty()) return options.name;
  char host[65] = {};
  gethostname(host, sizeof(host) - 1);
  return fmt::format("{}-{}", host, getpid());
}

}  // namespace

void require_name(const std::string& name) {
  if (elastic::is_member_name(name)) return;
  throw InputError(fmt::format(
      "the name of a member has at most {} bytes of UTF-8 text without control characters; choose "
      "another",
      elastic::longest_name));
}

Credentials credentials(const MemberOptions& options, const std::string& name,
                        const elastic::Origin& origin) {
  require_name(name);
  if (options.plaintext) return {tcp::Identity::plaintext(), {}};
  if (!options.certificate.empty())
    return {tcp::Identity::own_pki(options.certificate, options.key, options.authority), {}};
  if (!options.token) throw InputError("a member needs a token or a certificate");
  return {tcp::Identity::of(*options.token, name, as_bytes(origin)), options.token->run_id()};
}

void take_port(MemberOptions& options) {
  const Credentials who = credentials(options, name_of(options), elastic::Origin::random());
  if (!options.listen.empty())
    options.port = std::make_shared<tcp::ListeningPort>(options.listen, who.identity.encrypted());
}

class Member::Implementation final : public tcp::LinkEvents {
 public:
  explicit Implementation(MemberOptions options) : options_(std::move(options)), timer_(context_) {
    options_.name = name_of(options_);
    options_.origin = elastic::Origin::random();
    const Credentials who = credentials(options_, options_.name, options_.origin);
    identity_ = who.identity;
    sockets_.emplace(context_, *identity_, *this, tcp::SocketOptions{.start = start_});
    if (options_.port)
      options_.address = reachable(sockets_->listen(*options_.port), options_.advertise);
    else if (!options_.listen.empty())
      options_.address = reachable(sockets_->listen(options_.listen), options_.advertise);
    options_.run = who.run;
    options_.founder = options_.contacts.empty();
    options_.rotated = [this](const std::string& token) { rotated(token); };
    protocol_.emplace(options_, *sockets_);
    if (!options_.directory.empty()) open_directory();
    tick();
    thread_ = std::jthread([this] { run(); });
  }

  ~Implementation() override { close(); }

  void part(bool to_evaluate) {
    if (!thread_.joinable() || std::exchange(parted_, true)) return;
    asio::post(context_, [this, to_evaluate] {
      protocol_->close(now());
      print_events();
      if (to_evaluate && protocol_->has_joined())
        options_.say(protocol_->options().name + ": evaluating the model");
      parting_ = true;
      look_whether_gone();
    });
    const auto limit = Clock::now() + std::chrono::seconds(3);
    const auto gone = gone_.get_future();
    while (!has_failed() && Clock::now() < limit &&
           gone.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    }
    asio::post(context_, [this] {
      heard_.clear();
      sockets_.reset();
    });
  }
  void close() {
    if (!thread_.joinable()) return;
    part(false);
    asio::post(context_, [this] { context_.stop(); });
    thread_.join();
    control_socket_.reset();
    try {
      leave_names();
    } catch (const WriteError&) {  // there may be room later
    }
    sockets_.reset();
  }
  void leave_names() const {
    if (!options_.directory.empty()) write_members(options_.directory, *protocol_, now());
  }

  void wait_for_model(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { protocol_->inbox().wake(); });
    while (!protocol_->has_model() && !stop.stop_requested()) {
      if (const std::string why = protocol_->could_not_join(); !why.empty())
        throw InputError("cannot join: " + why);
      require_alive();
      protocol_->inbox().wait(std::chrono::milliseconds(100));
    }
  }
  void compare(const elastic::Hash& digest) {
    protocol_->compare(digest, now());
    asio::post(context_, [this] { protocol_->tick(now()); });
    while (!protocol_->has_compared(now())) protocol_->inbox().wait(std::chrono::milliseconds(100));
  }
  void settle(const std::filesystem::path& directory) {
    std::promise<void> done;
    asio::post(context_, [&] {
      try {
        options_.directory = directory;
        open_directory();
        done.set_value();
      } catch (...) {
        done.set_exception(std::current_exception());
      }
    });
    auto written = done.get_future();
    while (written.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
      require_alive();
    written.get();
  }
  const std::filesystem::path& directory() const { return options_.directory; }

  Nanoseconds now() const { return std::chrono::nanoseconds(Clock::now() - start_).count(); }
  elastic::Protocol& protocol() { return *protocol_; }
  const std::string& address() const { return options_.address; }
  const elastic::Origin& origin() const { return options_.origin; }
  void nudge() {
    if (nudged_.exchange(true)) return;
    asio::post(context_, [this] {
      nudged_.store(false);
      protocol_->pump(now());
    });
  }
  void on_tick(std::function<void()> look) {
    const std::lock_guard lock(callbacks_);
    look_ = std::move(look);
  }
  void on_failure(std::function<void(std::exception_ptr)> callback) {
    const std::lock_guard lock(callbacks_);
    on_failure_ = std::move(callback);
    if (failure_ && on_failure_) on_failure_(failure_);
  }

  // tcp::LinkEvents
  FrameSink& linked(LinkId link, bool dialed, const std::string& remote) override {
    heard_[link] = {};
    protocol_->linked(link, dialed, now(), remote);
    return *protocol_;
  }
  void dial_failed(LinkId link, tcp::DialFailure kind, const std::string& why) override {
    if (kind == tcp::DialFailure::untrusted) options_.say(why);
    protocol_->dial_failed(link, kind == tcp::DialFailure::refused, now());
  }
  void drained(LinkId) override { protocol_->pump(now()); }
  void lost(LinkId link, tcp::Loss kind, const std::string& why) override {
    heard_.erase(link);
    if (kind == tcp::Loss::refused_frame && std::exchange(refused_, why) != why)
      options_.say("a link was closed: " + why);
    protocol_->lost(link, now());
    print_events();
    look_whether_gone();
  }
  void refused(const std::string& line) override { options_.say(line); }

 private:
  void rotated(const std::string& text) try {
    const auto token = tcp::Token::parse(text);
    identity_ = identity_->renewed(token);
    sockets_->set_identity(*identity_);
    options_.token = token;
    options_.say("a new token is required to join from now on");
    if (!options_.directory.empty()) tcp::write_token(options_.directory / "token", token);
  } catch (
      const std::exception& error) {  // the run goes on; newcomers need the file of another member
    options_.say(std::string("the new token: ") + error.what());
  }

  void look_whether_gone() {
    if (!heard_.empty() || !std::exchange(parting_, false)) return;
    gone_.set_value();
  }

  // Nobody hears of this member any more, which others take for a crash; what it has is written.
  void run() noexcept {
    try {
      context_.run();
    } catch (...) {
      protocol_->break_off();
      const std::lock_guard lock(callbacks_);
      failure_ = std::current_exception();
      if (on_failure_) on_failure_(failure_);
    }
  }

  bool has_failed() {
    const std::lock_guard lock(callbacks_);
    return failure_ != nullptr;
  }
  void require_alive() {
    const std::lock_guard lock(callbacks_);
    if (failure_) std::rethrow_exception(failure_);
  }

  // Scripts wait for the address: it comes last.
  void open_directory() {
    if (options_.token) tcp::write_token(options_.directory / "token", *options_.token);
    write_members(options_.directory, *protocol_, now());
    history_.emplace(options_.directory);
    control_socket_.emplace(context_, options_.directory / "control",
                            [this](const std::string& command) { return answer(command); });
    if (!options_.address.empty())
      write_file((options_.directory / "address").string(), options_.address + "\n");
  }

  /// What has come on a link.
  struct Heard {
    std::uint64_t bytes = 0;
    bool is_known = false;  ///< the key of a member: it may come back whatever becomes of the token
  };
  void listen_to(LinkId link, Heard& heard) {
    const std::uint64_t bytes = sockets_->received_bytes(link);
    if (std::exchange(heard.bytes, bytes) < bytes) protocol_->on_bytes(link, now());
    if (heard.is_known || !protocol_->is_open(link)) return;
    heard.is_known = true;
    if (const auto key = sockets_->peer(link).key) identity_->know(*key);
  }

  void tick() {
    for (auto& [link, heard] : heard_) listen_to(link, heard);
    protocol_->tick(now());
    print_events();
    {
      const std::lock_guard lock(callbacks_);
      if (look_) look_();
    }
    if (history_) history_->look(*protocol_, now());
    const auto numbering = protocol_->numbering().size();
    if (!options_.directory.empty() && numbering != written_) {
      written_ = numbering;
      note_members();
    }
    timer_.expires_after(std::chrono::milliseconds(100));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) tick();
    });
  }

  void note_members() try {
    write_members(options_.directory, *protocol_, now());
  } catch (const WriteError& error) {  // of use only later: nobody has to go because of it
    options_.say(error.what());
  }

  void print_events() {
    for (const elastic::Event& event : protocol_->take_events())
      options_.say(one_line(protocol_->options().name + ": " + event.text));
  }

  std::string answer(const std::string& command) {
    const std::string word = command.substr(0, command.find(' '));
    const std::string rest = word.size() < command.size() ? command.substr(word.size() + 1) : "";
    if (word == "status") return status_json(*protocol_, now());
    if (protocol_->is_closed()) return "error: the run is over; this member evaluates its model";
    if (word == "stop")
      protocol_->stop_run(StopReason::asked, now());
    else if (word == "leave")
      protocol_->leave(now());
    else if (word == "rotate") {
      if (!options_.token) return "error: the members of this run have no token";
      const auto token = tcp::Token::random();
      protocol_->rotate(token.text(), token.run_id());
    } else if (word == "forget") {
      if (const std::string why = protocol_->forget(rest, now()); !why.empty())
        return "error: " + why;
    } else {
      return "error: unknown command";
    }
    return "ok";
  }

  MemberOptions options_;
  const Clock::time_point start_ = Clock::now();
  asio::io_context context_;
  asio::steady_timer timer_;
  std::optional<tcp::Sockets> sockets_;
  std::optional<elastic::Protocol> protocol_;
  std::optional<ControlSocket> control_socket_;
  std::optional<History> history_;
  std::mutex callbacks_;  // guards the three below
  std::function<void()> look_;
  std::function<void(std::exception_ptr)> on_failure_;
  std::exception_ptr failure_;
  std::optional<tcp::Identity> identity_;
  std::map<LinkId, Heard> heard_;
  std::size_t written_ = 0;
  std::string refused_;      // why a link was closed last
  bool parted_ = false;      // the thread that closes
  bool parting_ = false;     // the links that are left are to end
  std::promise<void> gone_;  // they have
  std::atomic<bool> nudged_{false};
  std::jthread thread_;
};

Member::Member(MemberOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Member::~Member() = default;
elastic::Protocol& Member::protocol() const { return implementation_->protocol(); }
void Member::receive(std::size_t limit, Received& received) {
  protocol().inbox().take(limit, received);
}
void Member::send(GradientPtr gradient) {
  protocol().own(std::move(gradient), now());
  nudge();
}
std::optional<std::uint64_t> Member::announced_total() const {
  if (!protocol().is_over()) return std::nullopt;
  return protocol().has_joined() ? protocol().held().size() : 0;
}
Nanoseconds Member::now() const { return implementation_->now(); }
void Member::wait_for_model(const std::stop_token& stop) { implementation_->wait_for_model(stop); }
void Member::settle(const std::filesystem::path& directory) { implementation_->settle(directory); }
const std::filesystem::path& Member::directory() const { return implementation_->directory(); }
const std::string& Member::address() const { return implementation_->address(); }
const elastic::Origin& Member::origin() const { return implementation_->origin(); }
void Member::nudge() { implementation_->nudge(); }
void Member::on_tick(std::function<void()> look) { implementation_->on_tick(std::move(look)); }
void Member::on_failure(std::function<void(std::exception_ptr)> callback) {
  implementation_->on_failure(std::move(callback));
}
void Member::compare(const elastic::Hash& digest) { implementation_->compare(digest); }
void Member::part() { implementation_->part(true); }
void Member::close() { implementation_->close(); }
void Member::leave_names() const { implementation_->leave_names(); }

}  // namespace dasgd::members
