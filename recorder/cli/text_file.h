// Reports as files: whole or not at all, and never in place of something that must not be lost.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Error: something is there that must not be lost. A file is replaced only with `force`; a trace, another database, a
/// snapshot or a folder never.
Status may_write_report(const std::string& path, bool force);

/// A regular file appears complete or stays as it was; a device or a pipe is written to.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace tidemark::cli
