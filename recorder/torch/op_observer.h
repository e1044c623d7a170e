// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Observes ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

// These functions do nothing if nothing changes.

/// Starts or ends observing ops and nodes, and the results of ops while the graph is recorded. Any thread may call.
void observe_ops(bool observe);
/// Suspends that, or resumes it. Any thread may call, also under an allocator lock.
void suspend_ops(bool suspended);
/// Starts or ends observing named ranges, such as the steps of optimizers. One thread at a time may call.
void observe_ranges(bool observe);

}  // namespace tidemark::plugin
