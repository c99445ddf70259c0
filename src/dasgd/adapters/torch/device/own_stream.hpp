// Streams of a GPU that are not shared.
#pragma once

#include <c10/core/Stream.h>
#include <memory>

namespace dasgd::torch_adapter {

using StreamPtr = std::shared_ptr<const c10::Stream>;

/// One that nobody else has as long as this is held; null on a CPU. LibTorch itself hands out 32
/// streams in turn: of two workers that share one, each would record what the other does.
StreamPtr stream_of_its_own(at::Device device);

}  // namespace dasgd::torch_adapter
