// How LibTorch computes on a CPU here: which of its implementations is the fast one.
#pragma once

#include <functional>
#include <string>

namespace dasgd::torch_adapter {

/// One compute thread per caller; convolutions by oneDNN or by BLAS, whichever does `trial` faster
/// on this machine (Debian's oneDNN takes 3.5 times as long as OpenBLAS on arm64). Both are
/// settings of LibTorch for the whole process, so the first network decides. Where a trial is
/// quick, `enlarge` makes the next ones larger; where it takes seconds, there are two. Returns what
/// was chosen.
std::string settle_cpu_path(const std::function<void()>& trial,
                            const std::function<void()>& enlarge);

}  // namespace dasgd::torch_adapter
