// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Observes ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

/// Starts or ends observing; does nothing if that is the state already. One thread at a time may call. `results`: also
/// observes what ops return, for the graph.
void observe_ops(bool observe, bool results);

}  // namespace tidemark::plugin
