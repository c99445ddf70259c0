// One member of a run whose members come and go, as a machine without sockets and clocks: what
// arrives and the time come in, frames and dials go out. TCP drives it, and so does virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/channel.hpp"
#include "dasgd/elastic/adoption/adoption.hpp"
#include "dasgd/elastic/adoption/copies.hpp"
#include "dasgd/elastic/end_agreement.hpp"
#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/message_chooser.hpp"
#include "dasgd/elastic/protocol_options.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/inbox.hpp"

namespace dasgd::elastic {

/// Something that only the worker can do, between two of its steps.
struct CopyModel {
  GradientSet names;
};
using Task = std::variant<std::monostate, CopyModel, Adoption>;

/// Something worth a line to a person.
struct Event {
  Nanoseconds time = 0;
  std::string text;
};

/// What `dasgd status` shows of a member.
struct MemberView {
  std::string name;
  Origin origin;
  std::string state;  ///< here, behind, cut off, left, gone, dead
  std::uint64_t gradients = 0;
  double rate = 0;
  std::uint64_t behind = 0;  ///< names that we hold and it has not reported
  double link_bytes_per_second = 0;
  double since_seconds = 0;
  bool ended = false;  ///< it was there at the end of the run
};

/// The network's functions belong to one thread, the worker's to another; the rest to any.
class Protocol {
 public:
  Protocol(ProtocolOptions options, Wires& wires);
  ~Protocol();

  // The network's side.
  /// `remote` is the other end's "host:port", where that is known.
  void linked(LinkId link, bool dialed, Nanoseconds now, const std::string& remote = {});
  void dial_failed(LinkId link, bool refused, Nanoseconds now);
  /// Where the body of a frame is to be put; nothing: hang up.
  std::optional<std::span<std::byte>> body(LinkId link, std::span<const std::byte> header,
                                           std::uint64_t bytes, Nanoseconds now);
  void received(LinkId link, std::span<const std::byte> header, Nanoseconds now);
  void lost(LinkId link, Nanoseconds now);
  /// Bytes have come, perhaps of a frame that takes long: a sign of life.
  void on_bytes(LinkId link, Nanoseconds now);
  /// To be called when something was sent by the worker or a link has room again.
  void pump(Nanoseconds now);
  /// To be called at least every `report_every`.
  void tick(Nanoseconds now);
  /// Says goodbye to all; nothing is sent afterwards.
  void close(Nanoseconds now);

  // The worker's side.
  void take(std::size_t limit, Received& received);
  void wait(std::chrono::milliseconds limit) { inbox_.wait(limit); }
  void wake() { inbox_.wake(); }
  std::shared_ptr<Gradient> blank() { return pool_->take_beyond(); }
  void own(GradientPtr gradient, Nanoseconds now);
  /// What is to be done before the next step, if anything. After `CopyModel`, `copied`
  /// follows, after an adoption with a mean the gradient that corrects it.
  Task next_task(Nanoseconds now);
  void copied(Model model, Nanoseconds now);
  /// The gradient that corrects an adoption will not come as one of `own`: the run, which did not
  /// end before it, may.
  void cannot_correct();
  /// The models before and after an adoption that wanted them.
  void remember(Model before, Model after, Nanoseconds now);
  /// In how many bits to send updates from now on; nothing: as before.
  std::optional<MessageFormat> chosen_format() const;
  /// Why this one; empty where it was not chosen.
  std::string format_reason() const;
  /// It hands over what it has, and goes.
  bool is_leaving() const {
    return locked(
        [&] { return end_.is_leaving() && !end_.is_over() && !end_.has_stopped() && joined(); });
  }
  /// Whether samples may be drawn: not before there is a model, nor after the end, nor while cut
  /// off, nor while there is a task, nor before the network's thread, which may get less of a busy
  /// processor, has looked at what was computed.
  bool may_compute() const;
  /// How large losses were when the run began, as far as this member knows, for whoever joins later
  /// and would take what is left of it for the usual.
  void note_early_loss(double size);
  double early_loss() const {
    return locked([&] { return members_.me().early_loss; });
  }
  /// The worker computes no more.
  void stopped(Nanoseconds now);
  /// Everybody holds the same and knows it, or this member has left or could not join.
  bool is_over() const {
    return locked([&] { return end_.is_over(); });
  }
  /// It has said goodbye.
  bool is_closed() const {
    return locked([&] { return closed_; });
  }
  /// The network's thread cannot go on: this member takes no part any more. Any thread.
  void break_off();
  /// The digest of the model with which this member came to the end, for all who ended together.
  void compare(const Hash& digest, Nanoseconds now);
  /// Every member that agreed on the end and is still here has sent its digest, or takes too long.
  bool has_compared(Nanoseconds now) const;
  /// Whether it has a model, ...
  bool has_joined() const {
    return locked([&] { return joined(); });
  }
  /// ... or one is here that it can begin with.
  bool has_model() const {
    return locked([&] { return joined() || offered_model_; });
  }
  /// Why this member never got a model; empty if it did, or may still.
  std::string could_not_join() const {
    return locked([&] { return end_.could_not_join(); });
  }

  // Anybody's.
  void stop_run(StopReason why, Nanoseconds now);
  void leave(Nanoseconds now);
  /// "It is dead." Why that is not taken from anybody, or nothing.
  std::string forget(const std::string& name_or_origin, Nanoseconds now);
  /// A new token, and the name of the run that follows from it, for all who join from now on.
  void rotate(const std::string& token, const RunId& run);
  /// A word to all others, with the next report: it takes the place of the one before.
  void announce(std::string word);
  /// The last words of all who are here, or were at the end, as far as they have come: this one's
  /// too, the eldest first.
  std::vector<std::string> words() const;
  std::optional<StopReason> ending() const;
  /// See Membership::is_first.
  bool is_first() const {
    return locked([&] { return members_.is_first(); });
  }
  std::vector<Event> take_events();
  std::vector<MemberView> members(Nanoseconds now) const;

  /// For the summary.
  struct Audit {
    std::uint64_t members = 0, here = 0, left = 0, lost_members = 0;
    std::map<std::string, std::uint64_t> lost_gradients;  ///< known ones, by origin
    GradientSet abandoned;
    std::uint64_t joined_at = 0;
    Hash names;
    bool agreed = false;  ///< all who were here ended with the same names
    /// Of those who did, by their names, this member first: the digests of their models.
    std::vector<std::pair<std::string, Hash>> digests;
    bool has_left = false;
    std::uint64_t too_late = 0;
    std::uint64_t copies_dropped = 0;
    Traffic sent;
    std::vector<LinkFigures> links;
  };
  Audit audit() const;
  /// Origins and names by the numbers that traces use.
  std::vector<std::pair<Origin, std::string>> numbering() const;
  GradientSet held() const {
    return locked([&] { return names(); });
  }
  std::size_t log_size() const {
    return locked([&] { return log().size(); });
  }
  std::size_t inbox_depth() const { return inbox_.depth(); }
  const ProtocolOptions& options() const { return options_; }
  std::vector<std::string> addresses() const;
  /// The name of the run in public.
  RunId run() const {
    return locked([&] { return run_; });
  }
  /// Whether it leads to somebody who takes part.
  bool is_open(LinkId link) const;
  /// What this member is about, in a word or two.
  const char* role() const;
  /// All of its state in a line, for whoever looks for a mistake.
  std::string describe() const;

 private:
  friend struct StateOf;  // tests that compare whole states
  template <typename Read>
  std::invoke_result_t<Read> locked(Read&& read) const {
    const std::lock_guard lock(mutex_);
    return read();
  }
  struct Link;
  using Links = std::map<LinkId, std::unique_ptr<Link>>;

  void say(Nanoseconds now, std::string text) { events_.push_back({now, std::move(text)}); }
  void transmit(Link& link, const Message& message, std::span<const std::byte> body = {},
                std::shared_ptr<const void> keeper = nullptr);
  void disconnect(LinkId link, Nanoseconds now);
  void drop(LinkId link, Nanoseconds now);
  Link* link_to(WorkerId member);
  void heard_on(Link& link, Nanoseconds now);

  void on(Link& link, Hello& hello, Nanoseconds now);
  void on(Link& link, Report& report, Nanoseconds now);
  void on_gradient(Link& link, Nanoseconds now);
  void on(Link& link, const Goodbye& goodbye, Nanoseconds now);
  void on_want(Link& link, Nanoseconds now);
  void on_snapshot(Link& link, Snapshot& snapshot, Nanoseconds now);
  void on_bundle(Link& link, Nanoseconds now);
  void accept(Link& link, const Parcel& parcel, Nanoseconds now);
  void admit(Parcel parcel, Nanoseconds now);
  std::size_t most_unfolded() const;
  void take_frame(LinkId link, std::span<const std::byte> header, Nanoseconds now);
  bool log_is_full() const;
  void hear(const Link& link, Record& record, Nanoseconds now);
  void spread(const Rotation& rotation);
  void on(const Word& word);
  void pass_words_on(Link& link);
  void handle(Link& link, Message message, Nanoseconds now);
  void say_goodbye(Link& link);
  std::optional<Adoption> plan(Nanoseconds now);
  Task adopt_offered(Nanoseconds now);

  std::uint64_t fit_into(std::uint64_t bytes) const;
  std::size_t most_waiting() const;
  std::size_t most_under_way() const;
  bool relays_at_once() const;
  bool can_stream(const Link& link) const;
  bool is_to_stream(const Link& link) const;
  void report_to(Link& link, Nanoseconds now);
  void report_to_all(Nanoseconds now);
  void report_news(Nanoseconds now);
  void pump(Link& link, Nanoseconds now);
  void offer(Link& link, const Parcel& parcel, Nanoseconds now);
  static bool is_wanted(const Link& link, const Parcel& parcel);
  bool has_room(const Link& link) const;
  std::vector<WorkerId> linked_to() const;
  bool repairs(const Link& link, const Log::Entry& entry, Nanoseconds now) const;
  void serve(Link& link, const Model& model, Nanoseconds now);
  void serve_all_who_wait(Nanoseconds now);
  bool lacks_too_much(const Link& link) const;
  void warn_of_link(const Link& link, Nanoseconds now);
  bool is_awaited(WorkerId member, Nanoseconds now);
  void collect(Nanoseconds now);
  bool is_merging() const;
  void loosen();
  void want_copy();
  void dial_members(Nanoseconds now);
  bool has_links() const;
  bool wants_link(WorkerId member) const;
  /// Disconnects silent members: the network's thread only.
  void find_cut(Nanoseconds now);
  void update_cut_state(Nanoseconds now);
  void drop_old_copies(Nanoseconds now);
  void pull(Nanoseconds now);
  std::uint64_t most_unreported() const { return holdings_.most_unreported(options_.budget); }
  bool joined() const { return members_.me().joined; }
  const GradientSet& names() const { return holdings_.names(); }
  const Log& log() const { return holdings_.log(); }
  void check_budget(Nanoseconds now);
  void measure(Nanoseconds now);
  void settle_end(Nanoseconds now);
  void give_up(std::string why);
  void report_soon();
  void begin_ending(StopReason why, Nanoseconds now);
  void died(WorkerId member, Nanoseconds now, const char* how);
  std::string label(WorkerId member) const;

  const ProtocolOptions options_;
  Wires& wires_;
  const std::shared_ptr<GradientPool> pool_;
  Inbox<std::uint8_t> inbox_;

  mutable std::mutex mutex_;  // guards all below
  Roster roster_;
  Membership members_;
  RunId run_;  // a newcomer takes it from the member that admits it
  Rotation rotation_;
  Links links_;
  std::map<std::string, Nanoseconds> contacts_;  // addresses of nobody yet: when to dial
  std::map<LinkId, std::string> dialing_;
  Holdings holdings_;
  EndAgreement end_;
  std::uint64_t copies_dropped_ = 0;
  std::size_t not_folded_ =
      0;  // gradients that came to a worker that is behind, since the last fold
  std::size_t not_looked_at_ = 0;  // own ones that the network's thread has not come to yet
  std::uint64_t unreported_ = 0;   // own ones since the last report to all
  bool has_news_ = false;          // to be reported at once

  bool wants_copy_ = false, is_copying_ = false;  // somebody has gone or come back
  Copies copies_;
  Nanoseconds copied_at_ = 0, unsettled_at_ = 0, collected_at_ = 0;
  std::optional<Model> snapshot_;  // the last that was sent
  bool wants_snapshot_ = false;
  bool snapshot_is_new_ = false;        // and nobody was served yet
  bool is_to_correct_ = false;          // what it has adopted
  std::optional<Model> offered_model_;  // has arrived, to be adopted
  Nanoseconds snapshot_at_ = 0;
  std::optional<LinkId> pulling_;
  WorkerId pulled_from_{};
  Nanoseconds pulled_at_ = 0;
  GradientSet pulled_at_least_;  // is in the model that was asked for
  std::optional<Nanoseconds> stuck_since_, merging_since_;
  std::map<WorkerId, Nanoseconds> do_not_pull_;  // until

  bool cut_off_ = false, reported_cut_ = false;
  Nanoseconds cut_since_ = 0;
  std::size_t computed_while_cut_ = 0;

  bool closed_ = false;
  std::optional<Nanoseconds> begun_;
  Nanoseconds ticked_at_ = 0;
  Nanoseconds measured_at_ = 0;
  std::optional<Nanoseconds> warned_of_links_at_;
  struct SentTo {
    std::uint64_t messages = 0, gradients = 0, bytes = 0;
    Nanoseconds first = 0, last = 0;
  };
  Traffic sent_;
  std::map<WorkerId, SentTo> sent_to_;
  MessageChooser chooser_;
  std::vector<Event> events_;
};

}  // namespace dasgd::elastic
