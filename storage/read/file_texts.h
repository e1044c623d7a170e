// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// All texts of a trace file, whatever the tables mean: also those of tables and columns that no reader knows.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "storage/base/progress.h"
#include "storage/base/result.h"

namespace tidemark {

/// A text or blob of a column. Views are valid during the call only.
struct FileText {
    std::string_view table, column, value;
    bool is_blob = false;
};

/// Calls visit() for every distinct text of each column and for every blob. It returns an error to stop. Errors: as
/// open_trace().
Status for_each_text(const std::string& path, Progress& progress, const std::function<Status(const FileText&)>& visit);

/// Returns the statements that created the file's tables and views.
Result<std::string> schema_text(const std::string& path, Progress& progress);

}  // namespace tidemark
