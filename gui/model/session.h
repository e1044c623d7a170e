// Everything about one open trace: the trace, its analysis per device, the selection, the view of the time axis,
// the colours. Panes get a Session and nothing else.
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

/// A trace and the analysis of each of its devices.
struct Content {
    std::shared_ptr<const Trace> trace;
    std::vector<std::shared_ptr<const Analysis>> analyses;
};

/// What stacked pictures are divided by.
struct GroupChoice {
    GroupBy by = GroupBy::stack;
    int module_depth = 0;  ///< with GroupBy::module: names of a path that count; 0: all
    auto operator<=>(const GroupChoice&) const = default;
};

/// A Grouping and what a legend wants to know about it. Immutable once made.
struct Groups {
    Grouping grouping;
    std::vector<StackId> stack;           ///< the stack of each group where it has just one, else 0
    std::vector<AllocationIndex> member;  ///< of each group its first allocation, by which it is known again
    std::vector<Category> categories;     ///< of each group, if groups are categories
    int rest = 0;                         ///< index of "the rest", always the last
    int count() const { return static_cast<int>(grouping.names.size()); }
};

/// A part of the run shown at first because nearly all events lie in it.
struct StartView {
    double from = 0, to = 0;  ///< axis units
    double share = 0;         ///< of all events
};

/// The groups of one device, as a run that goes on keeps them.
struct DeviceGroups {
    int device = 0;  ///< PyTorch's index
    GroupChoice choice;
    std::shared_ptr<const Groups> groups;
};

/// Lives on the GUI thread. A trace and an analysis are immutable and may be read from any thread while a shared_ptr
/// keeps them; grow() puts longer ones in their place.
class Session : public QObject {
    Q_OBJECT
public:
    /// Builds the analysis of every device. Thread: any.
    static std::vector<std::shared_ptr<const Analysis>> analyse(const std::shared_ptr<const Trace>& trace);

    /// May be made on a worker thread (then moveToThread the GUI's): groups of the first device are made here.
    Session(std::shared_ptr<const Trace> trace, std::vector<std::shared_ptr<const Analysis>> analyses,
            QObject* parent = nullptr);

    /// Of a run that is being recorded: what the trace holds now. Choice, zoom, grouping and colours stay; while the
    /// tail is followed, a cursor at the end stays at the end. `groups` may be of another device or kind, or none. The
    /// session has a device before, and has it still.
    void grow(Content content, const DeviceGroups& groups);
    /// Whether the run is still being recorded. A session is made for a run that has ended.
    bool is_live() const { return live_; }
    /// Live: shows the whole run and follows its tail, the cursor at the end.
    void set_live(bool live);
    DeviceGroups device_groups() const;

    const Trace& trace() const { return *trace_; }
    /// What the trace is missing. A run that goes on has not failed to end.
    std::vector<DataGap> data_gaps() const;
    std::shared_ptr<const Trace> shared_trace() const { return trace_; }
    /// False for a trace without any device: nothing below that needs one may be called.
    bool has_device() const { return !analyses_.empty(); }
    /// Of the selected device.
    const Analysis& analysis() const { return *analyses_[device_position()]; }
    std::shared_ptr<const Analysis> shared_analysis() const { return analyses_[device_position()]; }
    const DeviceHistory& device() const { return analysis().device(); }
    Selection& selection() { return selection_; }
    const Selection& selection() const { return selection_; }
    TimeView& time_view() { return time_view_; }
    const TimeView& time_view() const { return time_view_; }

    /// How stacked pictures are divided and coloured; the same groups have the same colours in every pane.
    GroupBy group_by() const { return group_choice_.by; }
    const GroupChoice& group_choice() const { return group_choice_; }
    void set_group_by(const GroupChoice& choice);
    /// The largest groups of the selected device (at its peak and over time) and "the rest"; made on first use.
    const Grouping& grouping() const { return shared_groups()->grouping; }
    std::shared_ptr<const Groups> shared_groups() const;

    /// After the language changed: names are made anew.
    void rename_groups();

    /// While the view is the one chosen at the start, and not the whole run.
    std::optional<StartView> start_view() const;

    /// Shared by the plots, which cut the same span into the same columns.
    const std::shared_ptr<ColumnCache>& column_cache() const { return column_cache_; }

    /// Of the selected device.
    std::shared_ptr<const LazyBreakdown> shared_breakdown() const;

    /// The autograd graph of the trace; reading begins when somebody asks with load_graph().
    GraphSource& graph_source() { return graph_source_; }
    const std::shared_ptr<const Graph>& graph() const { return graph_source_.graph(); }
    /// What the cursor stands for on the wall clock; behind the last event: the end of the trace.
    int64_t cursor_time() const;
    /// Of the selected device at the cursor.
    CategoryLookup categories() const;
    void load_graph() { graph_source_.load(trace_); }

    /// Why the selected device's memory is as it is; looked for when somebody wants it.
    ExplanationSource& explanation_source() { return explanation_source_; }
    const ExplanationSource& explanation_source() const { return explanation_source_; }

    /// The group everything else is dimmed for, or -1. With GroupBy::stack it is the chosen stack's group.
    int selected_group() const;
    /// Chooses a group: its stack where groups are stacks, else only its colour lights up. -1 chooses none.
    void select_group(int group);
    /// Esc: the selection and the chosen group.
    void clear_choice();

    /// Puts the cursor on the highest allocated bytes of the selected device.
    void go_to_peak();

signals:
    void grouping_changed();
    void group_selected();
    /// The trace is a longer one, and with it all that is made from it.
    void grown();
    void live_changed();

private:
    size_t device_position() const { return static_cast<size_t>(selection_.state().device); }
    int64_t known_time() const;  ///< of a run that goes on: as far as its recorder has told, events or not
    void show_device();
    void show_events();
    void take_graph(const std::shared_ptr<const Graph>& before);

    std::shared_ptr<const Trace> trace_;
    std::vector<std::shared_ptr<const Analysis>> analyses_;
    Selection selection_{this};
    TimeView time_view_{this};
    GraphSource graph_source_{this};
    ExplanationSource explanation_source_{*this};
    std::shared_ptr<ColumnCache> column_cache_;
    GroupChoice group_choice_;
    int selected_group_ = -1;
    bool live_ = false;
    std::optional<StartView> start_view_;
    mutable std::map<std::pair<size_t, GroupChoice>, std::shared_ptr<const Groups>> groups_;
    mutable std::map<size_t, std::shared_ptr<const LazyBreakdown>> breakdowns_;
};

}  // namespace tidemark::gui
