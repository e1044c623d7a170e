// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/histograms/shown_histograms.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

/// Gives the free functions of this file a context for translations.
struct HistogramText {
    Q_DECLARE_TR_FUNCTIONS(HistogramText)
};

std::vector<AllocationIndex> allocations_of(const HistogramRequest& request) {
    const DeviceHistory& device = request.analysis->device();
    std::vector<AllocationIndex> allocations;
    switch (request.memory) {
        case HistogramMemory::at_cursor:
            ActiveWalk(device, request.analysis->live())
                .for_each_active(request.cursor,
                                 [&](const ActiveAllocation& active) { allocations.push_back(active.allocation); });
            std::sort(allocations.begin(), allocations.end());
            return allocations;
        case HistogramMemory::in_view:
            return active_within(device.allocations, last_state(device, request.view.first),
                                 last_state(device, request.view.second));
        case HistogramMemory::of_finding: return *request.finding;
    }
    return allocations;
}

QString value_text(HistogramOf of, uint64_t value) {
    return of == HistogramOf::size       ? bytes_text(value)
           : of == HistogramOf::lifetime ? duration_text(static_cast<int64_t>(value))
                                         : count_text(static_cast<int64_t>(value));
}

}  // namespace

ShownHistograms make_histograms(HistogramRequest request) {
    const std::vector<EventNumber> begins = request.iterations->get().begins();
    Histograms histograms(request.analysis->device(), allocations_of(request),
                          request.by_iterations ? std::span(begins) : std::span<const EventNumber>());
    return {std::move(request), std::move(histograms), !begins.empty()};
}

QString edge_text(HistogramOf of, uint64_t value) {
    static const QRegularExpression zeros(QStringLiteral("[.]0+(?= )"));
    return value_text(of, value).remove(zeros);
}

QString bin_text(HistogramOf of, const HistogramBin& first, const HistogramBin& last) {
    if (first.never_freed) {
        return HistogramText::tr("never freed");
    }
    const QString from = edge_text(of, first.from);
    if (last.never_freed) {
        return HistogramText::tr("%1 or longer, or never freed").arg(from);
    }
    if (of == HistogramOf::iterations) {
        // Iterations are whole numbers, so the last one of a bin is named.
        return last.to == first.from + 1
                   ? HistogramText::tr("%1 iteration(s)", nullptr, plural(first.from)).arg(from)
                   : HistogramText::tr("%1 to %2 iterations").arg(from, edge_text(of, last.to - 1));
    }
    return last.to == UINT64_MAX ? HistogramText::tr("%1 or more").arg(from)
                                 : HistogramText::tr("%1 to %2").arg(from, edge_text(of, last.to));
}

QString amount_text(const HistogramAmount& amount) {
    return HistogramText::tr("%1 allocation(s), %2", nullptr, plural(amount.allocations))
        .arg(count_text(amount.allocations), bytes_text(amount.bytes));
}

}  // namespace tidemark::gui
