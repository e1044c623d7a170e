// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/copy_recording.h"

#include <filesystem>

#include "storage/base/part_file.h"
#include "storage/read/database.h"
#include "storage/write/streaming_file.h"

namespace tidemark {

Result<int64_t> copy_recording(const std::string& input, const std::string& output, IfExists if_exists,
                               Progress& progress) {
    const auto watched = WatchedFile::open(input);
    if (!watched) {
        return watched.error();
    }
    auto source = open_checked(input, watched->look(), progress);
    if (!source) {
        return source.error();
    }
    // Like a recording, it may contain private texts.
    auto part = PartFile::create(output, if_exists, FileAccess::owner);
    if (!part) {
        return part.error();
    }
    auto copy = StreamingFile::copy_of(*source, part->path());
    if (!copy) {
        return progress.canceled ? canceled_error() : copy.error();
    }
    TIDEMARK_TRY(copy->finish_copy());
    if (progress.canceled) {
        return canceled_error();
    }
    TIDEMARK_TRY(part->keep());
    std::error_code error;
    const auto bytes = std::filesystem::file_size(output, error);
    return error ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace tidemark
