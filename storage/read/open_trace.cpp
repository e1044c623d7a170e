// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/open_trace.h"

#include "storage/read/growing_trace.h"

namespace tidemark {

Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress) {
    const auto file = look_at(path);
    if (!file) {
        return file.error();
    }
    auto connection = open_checked(path, *file, progress);
    if (!connection) {
        return connection.error();
    }
    GrowingTrace trace(path);
    if (const auto read = trace.read(*connection, *file, progress); !read) {
        return read.error();
    }
    return trace.take();
}

Status check_every_page(const std::string& path, Progress& progress) {
    const auto file = look_at(path);
    if (!file) {
        return file.error();
    }
    auto connection = open_database(path, *file, progress);
    return connection ? check_pages(*connection, path, "integrity_check") : connection.error();
}

}  // namespace tidemark
