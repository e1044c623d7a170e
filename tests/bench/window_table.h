// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures the allocation table and the histograms.
#pragma once

#include <QString>

#include "storage/base/result.h"

namespace tidemark::gui {

/// Measures queries of the table by grouping, what the GUI thread then does with the rows, and the histograms. Prints
/// milliseconds as JSON.
Status measure_table(const QString& trace);

}  // namespace tidemark::gui
