// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The time in which a thread wants to run.
#pragma once

#include <cstdint>

namespace tidemark::heap {

/// Returns the time in ns that this thread has run, or has waited for a processor; without the latter if the kernel
/// does not count it. While a thread holds the interpreter lock, this is the time that others wait for it: the time in
/// which it waits for the lock itself is no part of it.
uint64_t runnable_ns();

}  // namespace tidemark::heap
