// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Observes ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

// One thread at a time may call these functions. They do nothing if nothing changes.

/// Starts or ends observing ops and nodes, and the results of ops while the graph is recorded.
void observe_ops(bool observe);
/// Starts or ends observing named ranges, such as the steps of optimizers.
void observe_ranges(bool observe);

}  // namespace tidemark::plugin
