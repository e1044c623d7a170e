// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Times of a snapshot's events, without those that a clock error made.
#pragma once

#include "storage/import/snapshot.h"

namespace tidemark {

/// Removes times that are years from the others of the snapshot: 0 among times since the epoch, for example. Times
/// count as those of one run if they are less than a year from the median.
void remove_absurd_times(Snapshot& snapshot);

/// Returns the time of the earliest event, in µs since the epoch; 0 if there are no times.
int64_t first_time(const Snapshot& snapshot);

}  // namespace tidemark
