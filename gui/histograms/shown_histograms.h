// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The histograms that the pane shows, made off the GUI thread, and their words.
#pragma once

#include <QString>
#include <memory>
#include <utility>

#include "gui/model/lazy_iterations.h"
#include "gui/model/selection.h"
#include "storage/analysis/analysis.h"
#include "storage/attribution/histogram.h"

namespace tidemark::gui {

/// The memory that is counted.
enum class HistogramMemory : uint8_t {
    at_cursor,
    in_view,     ///< what is active in any state of the time range that the plots show
    of_finding,  ///< of the selected finding, whether it is active at the cursor or not
};

/// What to count. Owns or shares all that the worker reads.
struct HistogramRequest {
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const LazyIterations> iterations;
    HistogramMemory memory = HistogramMemory::at_cursor;
    TimePoint cursor;
    std::pair<TimePoint, TimePoint> view;
    AllocationSet finding;       ///< with of_finding: not null
    bool by_iterations = false;  ///< lifetimes in iterations, if the run has any
};

/// Immutable. Thread: any.
struct ShownHistograms {
    HistogramRequest request;
    Histograms histograms;
    bool has_iterations = false;

    const std::vector<HistogramBin>& bins(HistogramOf of) const {
        return of == HistogramOf::size ? histograms.sizes() : histograms.lifetimes();
    }
};

ShownHistograms make_histograms(HistogramRequest request);

/// Returns "1 MiB to 1.33 MiB", "2 ms to 5 ms", "4 to 5 iterations", "never freed".
QString bin_text(HistogramOf of, const HistogramBin& first, const HistogramBin& last);
/// Returns the short text of a value below the axis: "1 MiB", "50 µs", "8".
QString edge_text(HistogramOf of, uint64_t value);
/// Returns "12 allocations, 34.0 MiB".
QString amount_text(const HistogramAmount& amount);

}  // namespace tidemark::gui
