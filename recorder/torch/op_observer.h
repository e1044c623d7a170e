// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Observes ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

// One thread at a time may call these functions. They do nothing if nothing changes.

/// Starts or ends observing ops and nodes. `results`: also observes the results of ops, for the graph.
void observe_ops(bool observe, bool results);
/// Starts or ends observing named ranges, such as the steps of optimizers.
void observe_ranges(bool observe);

}  // namespace tidemark::plugin
