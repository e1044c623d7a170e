// Follows ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

/// Begins or ends; does nothing when it is so already. One thread at a time. `results`: also what ops return, for the
/// graph.
void observe_ops(bool observe, bool results);

}  // namespace tidemark::plugin
