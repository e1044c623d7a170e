// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Observes ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

/// Starts or ends observing. Does nothing if it is in that state already. One thread at a time may call. `results`:
/// also observes the results of ops, for the graph.
void observe_ops(bool observe, bool results);

}  // namespace tidemark::plugin
