// What a file is by its first bytes, and whether a new trace may take its place.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark::cli {

enum class FileKind { missing, trace, other_sqlite, snapshot, not_a_file, other };

/// Looks at the first 100 bytes only. Compressed files count as snapshots: nothing else Tidemark takes is compressed.
FileKind file_kind(const std::string& path);

/// Error: a PyTorch snapshot was given where a trace belongs; it says how to import it.
Status check_is_no_snapshot(const std::string& path);

/// Error: something is there that must not be lost. A Tidemark trace is replaced only with `force` (the user's
/// `option`), anything else never.
Status may_write_trace(const std::string& path, bool force, const char* option = "--force");

}  // namespace tidemark::cli
