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
#include <variant>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/channel.hpp"
#include "dasgd/elastic/card_watch.hpp"
#include "dasgd/elastic/comparison.hpp"
#include "dasgd/elastic/cut_watch.hpp"
#include "dasgd/elastic/dialer.hpp"
#include "dasgd/elastic/end_agreement.hpp"
#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/retention.hpp"
#include "dasgd/elastic/takeover.hpp"
#include "dasgd/elastic/tree.hpp"
#include "dasgd/elastic/windows.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/inbox.hpp"

namespace dasgd::elastic {

/// Something that only the worker can do, between two of its steps.
struct CopyModel {
  GradientSet names;
};
/// Of the model without what it holds beyond some names.
struct TakeDigest {
  std::vector<Parcel> beyond;
};
using Task = std::variant<std::monostate, CopyModel, Adoption, TakeDigest>;

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
  /// What was sent to it, and how long ago the oldest of what it is behind came here.
  std::uint64_t messages = 0, gradients_sent = 0;
  double link_bytes_per_second = 0, seconds_behind = 0;
  double since_seconds = 0;
  std::string relation;  ///< in the tree: "parent", "child" or nothing
  bool ended = false;    ///< it was there at the end of the run
};

/// What a member keeps beside its worker, in bytes.
struct Kept {
  std::uint64_t log = 0;     ///< gradients and bundles that somebody may still need
  std::uint64_t copies = 0;  ///< of its model
  std::uint64_t models = 0;  ///< for whoever asks for one, and of somebody else
};

/// The network's functions belong to one thread, the worker's to another; the rest to any.
class Protocol final : public FrameSink {
 public:
  Protocol(ProtocolOptions options, Wires& wires);

  // The network's side.
  /// `remote` is the other end's "host:port", where that is known.
  void linked(LinkId link, bool dialed, Nanoseconds now, const std::string& remote = {});
  void dial_failed(LinkId link, bool refused, Nanoseconds now);
  std::optional<std::span<std::byte>> body(LinkId link, std::span<const std::byte> header,
                                           std::uint64_t bytes, Nanoseconds now) override;
  void received(LinkId link, std::span<const std::byte> header, Nanoseconds now) override;
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
  /// What has come and waits to be applied; it is woken when it is worth looking for anything else.
  Inbox<std::uint8_t>& inbox() { return inbox_; }
  const Inbox<std::uint8_t>& inbox() const { return inbox_; }
  std::shared_ptr<Gradient> blank() { return pool_->take_beyond(); }
  void own(GradientPtr gradient, Nanoseconds now);
  /// What is to be done before the next step, if anything. After `CopyModel`, `copied`
  /// follows, after `TakeDigest` `digest_taken`, after an adoption with a mean the gradient that
  /// corrects it.
  Task next_task(Nanoseconds now);
  void copied(Model model, Nanoseconds now);
  void digest_taken(const Hash& digest, Nanoseconds now);
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
  bool is_leaving() const { return locked(end_)->is_handing_over(); }
  /// Whether samples may be drawn: not before there is a model, nor after the end, nor while cut
  /// off, nor while there is a task, nor before the network's thread, which may get less of a busy
  /// processor, has looked at what was computed.
  bool may_compute() const;
  /// How large losses were when the run began, as far as this member knows, for whoever joins later
  /// and would take what is left of it for the usual.
  void note_early_loss(double size);
  double early_loss() const { return locked(members_)->me().early_loss; }
  /// The worker computes no more.
  void stopped(Nanoseconds now);
  /// Everybody holds the same and knows it, or this member has left or could not join.
  bool is_over() const { return locked(end_)->is_over(); }
  /// It has said goodbye.
  bool is_closed() const { return *locked(closed_); }
  /// The network's thread cannot go on: this member takes no part any more. Any thread.
  void break_off();
  /// The digest of the model with which this member came to the end, for all who ended together.
  void compare(const Hash& digest, Nanoseconds now);
  /// Every member that agreed on the end and is still here has sent its digest, or takes too long.
  bool has_compared(Nanoseconds now) const;
  /// Whether it has a model, ...
  bool has_joined() const { return locked(members_)->me().joined; }
  /// ... or one is here that it can begin with.
  bool has_model() const;
  /// Why this member never got a model; empty if it did, or may still.
  std::string could_not_join() const { return locked(end_)->could_not_join(); }

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
  bool is_first() const { return locked(members_)->is_first(); }
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
    std::string difference;  ///< from another model, found while the run went on; empty: none
    std::uint64_t found_equal = 0;  ///< so many times, then
    bool has_left = false;
    std::uint64_t too_late = 0;
    std::uint64_t copies_dropped = 0;
    Traffic sent;
    std::vector<LinkFigures> links;
  };
  Audit audit() const;
  /// Origins and names by the numbers that traces use.
  std::vector<std::pair<Origin, std::string>> numbering() const;
  GradientSet held() const { return locked(holdings_)->names(); }
  Kept kept() const;
  std::size_t log_size() const { return locked(holdings_)->log().size(); }
  const ProtocolOptions& options() const { return options_; }
  std::vector<std::string> addresses() const;
  /// The name of the run in public.
  RunId run() const { return *locked(run_); }
  /// Whether it leads to somebody who takes part.
  bool is_open(LinkId link) const { return locked(links_)->is_open(link); }
  /// What this member is about, in a word or two.
  const char* role() const;
  /// All of its state in a line, for whoever looks for a mistake.
  std::string describe() const;

 private:
  friend struct StateOf;  // tests that compare whole states
  /// A part, locked for as long as the expression lasts.
  template <typename Part>
  struct Locked {
    const Part* operator->() const { return &part; }
    const Part& operator*() const { return part; }
    std::unique_lock<std::mutex> lock;
    const Part& part;
  };
  template <typename Part>
  Locked<Part> locked(const Part& part) const {
    return {std::unique_lock(mutex_), part};
  }
  void say(Nanoseconds now, std::string text) { events_.push_back({now, std::move(text)}); }
  void disconnect(LinkId link, Nanoseconds now);
  void drop(LinkId link, Nanoseconds now);
  void heard_on(MemberLink& link, Nanoseconds now);

  void on(MemberLink& link, Hello& hello, Nanoseconds now);
  void on(MemberLink& link, Report& report, Nanoseconds now);
  void on_parcel(MemberLink& link, Nanoseconds now);
  void on(MemberLink& link, const Goodbye& goodbye, Nanoseconds now);
  void on_want(MemberLink& link, Nanoseconds now);
  void on_snapshot(MemberLink& link, Snapshot& snapshot, Nanoseconds now);
  void admit(Parcel parcel, bool passes_on, Nanoseconds now);
  void take_frame(LinkId link, std::span<const std::byte> header, Nanoseconds now);
  void hear(const MemberLink& link, Record& record, Nanoseconds now);
  void spread(const Rotation& rotation);
  void on(const Word& word);
  void pass_words_on(MemberLink& link);
  void handle(MemberLink& link, Message message, Nanoseconds now);
  void say_goodbye(MemberLink& link);
  Task adopt_offered(Nanoseconds now);
  void on(const MemberLink& link, ModelDigest& digest, Nanoseconds now);
  void send_digest(MemberLink& link);

  bool is_to_stream(const MemberLink& link) const;
  bool trusts_origins() const;
  bool has_tree() const { return tree_.exists() && !windows_.relays_at_once(); }
  bool is_edge(const MemberLink& link) const;
  LinkStream::Route route_of(const MemberLink& link) const;
  double seconds_behind(const MemberLink& link, Nanoseconds now) const;
  void report_to(MemberLink& link, Nanoseconds now);
  void report_to_all(Nanoseconds now);
  void report_news(Nanoseconds now);
  void pump(MemberLink& link, Nanoseconds now);
  void serve(MemberLink& link, const Model& model, Nanoseconds now);
  void serve_all_who_wait(Nanoseconds now);
  void warn_of_link(const MemberLink& link, Nanoseconds now);
  bool is_awaited(WorkerId member, Nanoseconds now);
  void collect(Nanoseconds now);
  bool is_merging() const;
  void want_copy();
  /// Disconnects silent members: the network's thread only.
  void find_cut(Nanoseconds now);
  void drop_links_without_hello(Nanoseconds now);
  bool change_tree(Nanoseconds now);
  void watch_card();
  void update_cut_state(Nanoseconds now);
  void pull(Nanoseconds now);
  bool model_is_coming() const;
  std::uint64_t most_unreported() const { return holdings_.most_unreported(options_.budget); }
  bool joined() const { return members_.me().joined; }
  bool has_first_model() const { return joined() || takeover_.offered(); }
  const GradientSet& names() const { return holdings_.names(); }
  const Log& log() const { return holdings_.log(); }
  void check_budget(Nanoseconds now);
  void measure(Nanoseconds now);
  void settle_end(Nanoseconds now);
  void give_up(std::string why);
  void begin_ending(StopReason why, Nanoseconds now);
  void died(WorkerId member, Nanoseconds now, const char* how);

  const ProtocolOptions options_;
  Wires& wires_;
  const std::shared_ptr<GradientPool> pool_;
  Inbox<std::uint8_t> inbox_;

  mutable std::mutex mutex_;  // guards all below
  Roster roster_;
  Membership members_;
  RunId run_;  // a newcomer takes it from the member that admits it
  Rotation rotation_;
  LinkTable links_;
  Dialer dialer_;
  const Windows windows_;
  Tree tree_;
  Holdings holdings_;
  EndAgreement end_;
  Snapshots snapshots_;
  Takeover takeover_;
  Retention retention_;
  CutWatch cut_;
  CardWatch card_;
  Comparison comparison_;
  struct Counts {
    std::size_t not_folded = 0;     // came to a worker that is behind, since the last fold
    std::size_t not_looked_at = 0;  // own ones that the network's thread has not come to yet
    std::uint64_t unreported = 0;   // own ones since the last report to all
    bool has_news = false;          // to be reported at once
  } counts_;
  bool closed_ = false;
  struct Moments {
    std::optional<Nanoseconds> begun, warned_of_links;
    Nanoseconds ticked = 0;
  } moments_;
  std::vector<Event> events_;
};

}  // namespace dasgd::elastic
