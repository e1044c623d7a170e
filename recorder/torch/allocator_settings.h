// How the caching allocator is set: block sizes follow from it.
#pragma once

namespace tidemark::plugin {

/// Tells each setting under the name a memory snapshot gives it, its value as JSON.
void report_allocator_settings();

}  // namespace tidemark::plugin
