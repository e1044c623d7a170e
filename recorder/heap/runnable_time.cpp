// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/runnable_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

namespace tidemark::heap {

namespace {

/// Returns the second number of the file: "time on a processor, time in the queue of one, time slices".
uint64_t queued_ns() {
    const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    std::array<char, 96> text{};
    const ssize_t size = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    unsigned long long ran = 0, queued = 0;
    return size > 0 && std::sscanf(text.data(), "%llu %llu", &ran, &queued) == 2 ? queued : 0;
}

}  // namespace

uint64_t runnable_ns() {
    timespec ran{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    return static_cast<uint64_t>(ran.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(ran.tv_nsec) + queued_ns();
}

}  // namespace tidemark::heap
