// A trace as long as one likes, made by repeating a real one: for benchmarks.
#pragma once

#include <memory>

#include "storage/trace/trace.h"

namespace tidemark::bench {

/// Repeats the main device's events of `trace` until there are at least `events`. Between two rounds whatever lives is
/// freed and what lived at the start is allocated again, so every state is one the allocator could have been in.
std::shared_ptr<const Trace> repeat(const Trace& trace, EventNumber events);

}  // namespace tidemark::bench
