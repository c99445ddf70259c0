// How LibTorch computes on a CPU here: which of its ways is the fast one, and whether several
// threads may.
#pragma once

#include <c10/core/Device.h>
#include <functional>
#include <mutex>
#include <string>

namespace dasgd::torch_adapter {

/// One compute thread per caller; convolutions by oneDNN or by BLAS, whichever does `trial` faster
/// on this machine (Debian's oneDNN takes 3.5 times as long as OpenBLAS on arm64). Both are
/// settings of LibTorch for the whole process, so the first network decides. Returns what was
/// chosen.
std::string settle_cpu_path(const std::function<void()>& trial);

/// Held by whoever computes. OpenBLAS as a library without threads (Debian's libopenblas0-serial)
/// has one workspace for all callers and no lock: two at a time get wrong numbers, and no error.
/// With it one thread computes at a time; with any other library, and on a GPU, this locks nothing.
std::unique_lock<std::mutex> alone_if_blas_is_serial(const c10::Device& device);

}  // namespace dasgd::torch_adapter
