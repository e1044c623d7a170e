// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Readings in a process of their own, with limits of time and memory. Linux.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/hostile/reading.h"

namespace tidemark::hostile {

struct Limits {
    int seconds = 5;         ///< CPU time of one reading
    int64_t hard_bytes = 0;  ///< address space; 0: unlimited
};

/// What a reading did.
struct Outcome {
    bool ended = false;
    int status = 0;
    bool silent = false;  ///< it printed no error
    uint64_t output_hash = 0;
};

/// What a child process did.
struct Try {
    std::vector<Outcome> outcomes;  ///< of the readings that began, in order
    Reported reported;
    int signal = 0;           ///< 0: it ended by itself
    int exit_status = 0;      ///< 0 if all readings ran
    int64_t grown_bytes = 0;  ///< the most memory it used besides what it had at its start
    std::string errors;       ///< stderr of the last reading
};

/// One child process that runs readings one after another.
class Sandbox {
public:
    /// Starts the child. `readings` must exist until it is finished.
    Sandbox(std::span<const Reading> readings, const Paths& paths, const Limits& limits);
    Sandbox(Sandbox&&) noexcept;
    Sandbox& operator=(Sandbox&&) noexcept;
    ~Sandbox();

    pid_t pid() const;
    /// Takes the results of a child for which wait4() returned `status` and `peak_kib`.
    Try finish(int status, int64_t peak_kib) const;
    /// Waits for the child.
    Try wait() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Whether this build has an address sanitizer, which reserves much address space and needs more memory.
bool is_sanitized();

}  // namespace tidemark::hostile
