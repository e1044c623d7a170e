// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which events still have rows in the steps whose details were deleted.
#pragma once

#include "storage/base/result.h"
#include "storage/read/row_source.h"
#include "storage/trace/file_numbers.h"

namespace tidemark {

constexpr int first_version_that_deletes = 7;

/// The events of an allocation, as the file numbers them.
struct LifetimeEvents {
    FileEvent created = before_history, freed = never_in_file, completed = never_in_file;
};
/// `freed`, `completed`: the columns free_after and free_completed_after of the row.
LifetimeEvents lifetime_events(int64_t id, const Statement& row, int freed, int completed);

/// Reads the numbers of the device's events, of which the file counts `events`. Returns an error if the rows contradict
/// each other.
Result<FileNumbers> numbers_of(RowSource& source, int device, int64_t events);

}  // namespace tidemark
