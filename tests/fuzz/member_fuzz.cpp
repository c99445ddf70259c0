#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dasgd/elastic/between_steps.hpp"
#include "dasgd/elastic/protocol.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace dasgd;
using namespace dasgd::elastic;

// Takes everything, and nobody answers.
struct Nowhere final : Wires {
  LinkId dial(const std::string&) override { return LinkId{1'000 + ++dialed}; }
  void send(LinkId, Bytes header, std::span<const std::byte>,
            std::shared_ptr<const void>) override {
    if (header.empty()) throw std::logic_error("an empty frame");
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId link) override { open = open && link != LinkId{1}; }

  std::uint64_t dialed = 0;
  bool open = true;
};

constexpr std::size_t dimension = 3;

ProtocolOptions options(bool founder) {
  ProtocolOptions all;
  all.origin = {1, 1};
  all.name = "a";
  all.address = "here:1";
  all.facts = "model: same\n";
  all.founder = founder;
  all.dimension = dimension;
  all.format = NumberFormat::of_float;
  all.limits.in_flight = 2;
  return all;
}

Bytes hello() {
  Roster roster;
  Introductions link;
  return encode(Hello{{}, {2, 2}, "b", "there:2", "model: same\n"}, link, roster);
}

}  // namespace

// A member, and another who says what the fuzzer wants: frames, each behind its length in two bytes
// and a byte for the size of its body.
// The first byte: 1 the other has said hello, 2 the worker computes meanwhile, 4 the member has not
// begun the run but waits for a model.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  Nowhere network;
  Protocol protocol(options((data[0] & 4) == 0), network);
  Nanoseconds now = 1;
  protocol.tick(now);
  protocol.linked(LinkId{1}, false, now);
  const auto receive = [&](std::span<const std::byte> frame, std::uint64_t body_bytes) {
    const auto place = protocol.body(LinkId{1}, frame, body_bytes, now);
    if (!place) return protocol.lost(LinkId{1}, now);
    if (place->size() != body_bytes) throw std::logic_error("a body of another size");
    if (!place->empty()) std::memset(place->data(), 7, place->size());
    protocol.received(LinkId{1}, frame, now);
  };
  if (data[0] & 1) receive(hello(), 0);
  std::uint32_t made = 0;
  auto left = std::as_bytes(std::span(data + 1, size - 1));
  while (left.size() >= 3 && network.open) {
    const auto byte = [&](std::size_t k) { return std::to_integer<std::size_t>(left[k]); };
    const std::size_t length = std::min(left.size() - 3, byte(0) + 256 * byte(1));
    static constexpr std::uint64_t bodies[] = {0, dimension * 4, dimension * 8, 5};
    receive(left.subspan(3, length), bodies[byte(2) % 4]);
    left = left.subspan(3 + length);
    now += 100'000'000;
    if ((data[0] & 2) && protocol.has_joined()) {
      auto own = protocol.blank();
      own->name = {WorkerId{0}, made++};
      own->compute_set = protocol.held();
      own->origin_step = own->compute_set.size();
      own->update.resize_bytes(dimension * 4, NumberFormat::of_float);
      std::memset(own->update.bytes().data(), 1, own->update.bytes().size());
      if (!own->compute_set.contains(own->name)) protocol.own(own, now);
    }
    protocol.tick(now);
    protocol.pump(now);
    Received received;
    protocol.inbox().take(8, received);
    const Task task = protocol.next_task(now);
    if (const auto* copy = std::get_if<CopyModel>(&task))
      protocol.copied({copy->names, 0, std::make_shared<const Bytes>(dimension * 8)}, now);
    if (std::holds_alternative<TakeDigest>(task)) protocol.digest_taken({1, 1}, now);
    if (const auto* adoption = std::get_if<Adoption>(&task)) {
      const std::vector<Sum<float>> held(dimension);
      std::vector<Sum<float>> room;
      if (carry_out<float>(*adoption, held, room).size() != dimension)
        throw std::logic_error("a model of another size");
    }
    (void)protocol.members(now);
    (void)protocol.audit();
  }
  protocol.stopped(now);
  protocol.close(now);
  return 0;
}
