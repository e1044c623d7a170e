// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the file system of a folder can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/sentence.h"

namespace tidemark {

/// Returns the name of a network file system ("NFS"), also of FUSE, by its type in statfs; empty for others.
std::string_view network_file_system(int64_t type);

/// Returns why a trace cannot grow in this folder: SQLite's write-ahead log needs file locks and shared memory
/// mappings, which do not work on network file systems. A clause without a full stop. Empty if it can, or if the folder
/// cannot be written at all. Creates and removes a small file.
std::optional<Sentence> obstacle_to_growing_files(const std::string& folder);

/// Returns the bytes that this user may still write in the folder; 0 if that is unknown.
int64_t free_bytes(const std::string& folder);

}  // namespace tidemark
