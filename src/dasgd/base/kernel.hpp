// Loops that gain from wide registers.
#pragma once

// On x86-64 the loader picks a wider version of the kernels where the processor has one; on arm64
// the baseline already has the instructions. (ThreadSanitizer cannot run inside the picker.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define DASGD_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DASGD_KERNEL
#endif

// A part of a kernel: compiled again into each of its versions.
#define DASGD_INLINE [[gnu::always_inline]] inline
