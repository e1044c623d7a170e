// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Copies a file.
#pragma once

#include <string>

#include "storage/base/part_file.h"
#include "storage/base/result.h"

namespace tidemark {

/// Copies a file with its permissions and its time of change. The copy appears complete or not at all. Errors
/// (environment): `from` cannot be read or is a link; as PartFile.
Status copy_file(const std::string& from, const std::string& to, IfExists if_exists);

}  // namespace tidemark
