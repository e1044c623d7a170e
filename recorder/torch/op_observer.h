// Follows ops, autograd nodes and named ranges on every thread.
#pragma once

namespace tidemark::plugin {

/// Begins or ends; does nothing when it is so already. One thread at a time.
void observe_ops(bool observe);

}  // namespace tidemark::plugin
