// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds out whether a file is as it was written, while other code reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/read/database.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct IntegrityReport {
    Integrity integrity = Integrity::unfinished;
    std::vector<std::string> changed_tables;  ///< if changed; none: bytes outside the tables were changed

    /// Returns the data gap to report; nothing unless the file was changed.
    std::vector<DataGap> data_gaps() const;
};

enum class HowLarge {
    usual,  ///< files of more than 4 GiB are not checked
    any,
};

/// Compares all bytes with the seal and, if they differ, all tables with their checksums. `file` is of the same path.
/// Errors: the file cannot be read; canceled.
Result<IntegrityReport> check_integrity(const WatchedFile& file, HowLarge how_large, Progress& progress);

/// check_integrity() on a thread of its own. The destructor waits for its end.
class IntegrityCheck {
public:
    /// Both must outlive this object.
    IntegrityCheck(const WatchedFile& file, Progress& progress);
    ~IntegrityCheck();
    /// Waits for the report. Call it once.
    Result<IntegrityReport> report();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
