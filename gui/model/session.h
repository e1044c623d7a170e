// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Everything about one open trace: the trace, its analysis per device, the selection, the view of the time axis,
// the colors. A pane needs only a Session.
#pragma once

#include <QObject>
#include <compare>
#include <map>
#include <memory>
#include <vector>

#include "gui/model/category_lookup.h"
#include "gui/model/explanation_source.h"
#include "gui/model/selection.h"
#include "gui/model/time_view.h"
#include "storage/analysis/analysis.h"
#include "storage/attribution/attribution.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

class ColumnCache;
class LazyBreakdown;
class LazyIterations;

/// A trace and the analysis of each of its devices.
struct Content {
    std::shared_ptr<const Trace> trace;
    std::vector<std::shared_ptr<const Analysis>> analyses;
};

/// The grouping of stacked pictures.
struct GroupOption {
    GroupBy by = GroupBy::stack;
    int module_depth = 0;  ///< with GroupBy::module: number of names of a path; 0: all
    auto operator<=>(const GroupOption&) const = default;
};

/// A Grouping with the data of its legend. Immutable. Thread: any.
struct Groups {
    Grouping grouping;
    LastingBytes lasting;                 ///< of the grouping
    std::vector<StackId> stack;           ///< of each group its stack if it has exactly one, else 0
    std::vector<AllocationIndex> member;  ///< of each group its first allocation, which identifies it later
    std::vector<Category> categories;     ///< of each group, if groups are categories
    int rest = 0;                         ///< index of "other", always the last
    bool is_rest_empty = false;           ///< whether no allocation ever belongs to "other"
    int count() const { return static_cast<int>(grouping.names.size()); }
};

/// The groups of one device, stable while the run grows.
struct DeviceGroups {
    int device = 0;  ///< PyTorch's index
    GroupOption choice;
    std::shared_ptr<const Groups> groups;
};

/// Thread: GUI. A trace and an analysis are immutable and may be read from any thread while a shared_ptr
/// refers to them; grow() replaces them by longer ones.
class Session : public QObject {
    Q_OBJECT
public:
    /// Builds the analysis of every device. Thread: any.
    static std::vector<std::shared_ptr<const Analysis>> analyze(const std::shared_ptr<const Trace>& trace);

    /// Computes the groups of the first device. May run on a worker thread; then move the session to the GUI thread.
    Session(std::shared_ptr<const Trace> trace, std::vector<std::shared_ptr<const Analysis>> analyses,
            QObject* parent = nullptr);

    /// Takes the longer trace of a run that is recorded. Selection, zoom, grouping and colors stay; while the
    /// tail is followed, a cursor at the end stays at the end. `groups` may be of another device or kind, or none.
    /// Requires a device.
    void grow(Content content, const DeviceGroups& groups);
    /// Returns whether the run is still being recorded; false at first.
    bool is_live() const { return live_; }
    /// Shows the whole run and follows its tail with the cursor at the end.
    void set_live(bool live);
    DeviceGroups device_groups() const;

    const Trace& trace() const { return *trace_; }
    /// Returns the data gaps of the trace. A growing run has no gap at its end.
    std::vector<DataGap> data_gaps() const;
    std::shared_ptr<const Trace> shared_trace() const { return trace_; }
    /// Returns false for a trace without any device; the functions below that need a device must not be called then.
    bool has_device() const { return !analyses_.empty(); }
    /// Of the selected device.
    const Analysis& analysis() const { return *analyses_[device_position()]; }
    std::shared_ptr<const Analysis> shared_analysis() const { return analyses_[device_position()]; }
    const DeviceHistory& device() const { return analysis().device(); }
    Selection& selection() { return selection_; }
    const Selection& selection() const { return selection_; }
    TimeView& time_view() { return time_view_; }
    const TimeView& time_view() const { return time_view_; }
    /// Returns the part of the run in which nearly all events of the selected device lie, if it is short.
    ShownTime busy_part() const;
    void show_busy_part();

    /// The grouping of stacked pictures; the same groups have the same colors in every pane. Until another one is
    /// chosen it is the category if any are recorded, else the stack.
    GroupBy group_by() const { return group_option_.by; }
    const GroupOption& group_option() const { return group_option_; }
    void set_group_by(const GroupOption& choice);
    /// Returns the largest groups of the selected device (at its peak and over time) and "other"; made on first use.
    const Grouping& grouping() const { return shared_groups()->grouping; }
    std::shared_ptr<const Groups> shared_groups() const;

    /// Makes the names again after the language changed.
    void rename_groups();

    /// Shared by the plots, which divide the same span into the same columns.
    const std::shared_ptr<ColumnCache>& column_cache() const { return column_cache_; }

    /// Of the selected device.
    std::shared_ptr<const LazyBreakdown> shared_breakdown() const;
    /// Of the selected device.
    std::shared_ptr<const LazyIterations> shared_iterations() const;

    /// Returns the autograd graph of the trace; load_graph() begins to read it.
    GraphSource& graph_source() { return graph_source_; }
    const std::shared_ptr<const Graph>& graph() const { return graph_source_.graph(); }
    /// Returns the wall-clock time of the cursor: between two events its own, else the end of its state.
    int64_t cursor_time() const;
    /// Returns the end of the run, or of what is known of a growing one.
    TimePoint end_point() const;
    /// Returns how far the recorder of a growing run has reported, with or without events.
    int64_t known_time() const;
    /// Of the selected device at the cursor.
    CategoryLookup categories() const;
    void load_graph() { graph_source_.load(trace_); }

    /// Returns the explanation of the selected device, made on request.
    ExplanationSource& explanation_source() { return explanation_source_; }
    const ExplanationSource& explanation_source() const { return explanation_source_; }

    /// Returns the group that is highlighted, or -1. With GroupBy::stack it is the selected stack's group.
    int selected_group() const;
    /// Selects a group: its stack where groups are stacks, else only its color is highlighted. -1 selects none.
    void select_group(int group);
    /// Clears the selection and the selected group (Esc).
    void clear_selection();

    /// Moves the cursor to the highest allocated bytes of the selected device.
    void go_to_peak();
    /// Moves the cursor to where memory changes next, or with `direction` < 0 changed before: on the wall clock also
    /// between events.
    void go_to_change(int direction);

signals:
    void grouping_changed();
    void group_selected();
    /// The trace and everything derived from it are longer.
    void grown();
    void live_changed();

private:
    size_t device_position() const { return static_cast<size_t>(selection_.state().device); }
    void show_device();
    void take_graph(const std::shared_ptr<const Graph>& before);

    std::shared_ptr<const Trace> trace_;
    std::vector<std::shared_ptr<const Analysis>> analyses_;
    Selection selection_{this};
    TimeView time_view_{this};
    GraphSource graph_source_{this};
    ExplanationSource explanation_source_{*this};
    std::shared_ptr<ColumnCache> column_cache_;
    GroupOption group_option_;
    bool group_is_chosen_ = false;  ///< by the user
    int selected_group_ = -1;
    bool live_ = false;
    mutable std::map<std::pair<size_t, GroupOption>, std::shared_ptr<const Groups>> groups_;
    mutable std::map<size_t, std::shared_ptr<const LazyBreakdown>> breakdowns_;
    mutable std::map<size_t, std::shared_ptr<const LazyIterations>> iterations_;
};

}  // namespace tidemark::gui
