// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory of one finding over time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gui/model/explained.h"
#include "gui/model/session.h"
#include "storage/timeline/allocation_levels.h"

namespace tidemark::gui {

/// Of a finding about allocations, the bytes of these; otherwise those of its component of the memory breakdown.
class FindingCurve {
public:
    struct Value {
        int64_t bytes = 0;
        std::optional<int64_t> count;  ///< of allocations; nothing: a component
    };
    struct Column {
        int64_t lowest = 0, highest = 0;  ///< bytes
    };

    /// Returns nothing if the finding is about neither. `finding`: a position in Explanation::findings. Thread: any.
    static std::optional<FindingCurve> of(std::shared_ptr<const Explained> explained, int finding);

    const Finding& finding() const;
    const Explained& explained() const { return *explained_; }
    /// Returns the most bytes at any time of the run; an estimate for a component.
    int64_t highest(const Session& session) const;
    Value at(const Session& session, double position) const;
    /// Returns `count` columns between two places on the session's time axis.
    std::vector<Column> columns(const Session& session, double from, double to, int count) const;
    /// Returns `count` columns of the whole run by wall clock. Thread: any.
    std::vector<Column> over_run(int count) const;

private:
    FindingCurve(std::shared_ptr<const Explained> explained, int finding);
    bool is_of_component() const { return levels_.empty(); }
    EventNumber state_at(const Session& session, double position) const;
    int64_t component_at(int64_t time) const;
    std::vector<Column> columns_of(int count, const std::function<EventNumber(int)>& state_at,
                                   const std::function<int64_t(double)>& time_at) const;
    Column column_between(EventNumber from, EventNumber to) const;

    std::shared_ptr<const Explained> explained_;
    size_t finding_;
    std::vector<AllocationLevel> levels_;
    std::vector<Column> blocks_;  ///< of so many levels each: a column of a long run has a million
};

/// Returns the finding whose memory the plots show: the selected one, or else the first if it is no mere pattern; -1:
/// none.
int finding_shown(const Session& session);

}  // namespace tidemark::gui
