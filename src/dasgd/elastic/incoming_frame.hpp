// The frame that is coming on a link: where its body is put, and what it turns out to be.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dasgd/elastic/protocol_options.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd::elastic {

class IncomingFrame {
 public:
  /// What the link stands for, as far as bodies go.
  struct Allowed {
    bool gradients = false;  ///< both sides have said hello
    bool model = false;      ///< one was asked for
  };
  /// Where so many bytes are to be put; nothing: they are not what was announced, or not expected.
  std::optional<std::span<std::byte>> begin(Message message, std::uint64_t bytes, Allowed allowed,
                                            const ProtocolOptions& options, GradientPool& pool);
  /// The header of the frame, if it had a body; once.
  std::optional<Message> take_message() { return std::exchange(message_, std::nullopt); }
  /// The gradient or bundle whose body has come; an empty one where it is malformed.
  Parcel take_parcel(NumberFormat format);
  /// The sums of the model whose body has come, if it has.
  std::shared_ptr<const Bytes> take_sums() { return std::exchange(sums_, nullptr); }
  bool is_model() const { return sums_ != nullptr; }

 private:
  std::optional<Message> message_;
  std::shared_ptr<Gradient> gradient_;
  std::shared_ptr<Bundle> bundle_;
  Bytes packed_;  // their numbers, where they come in few bits
  std::shared_ptr<Bytes> sums_;
};

}  // namespace dasgd::elastic
