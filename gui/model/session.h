// Everything about one open trace: the trace, its analysis per device, the selection, the view of the time axis,
// the colours. Panes get a Session and nothing else.
#pragma once

#include <QObject>
#include <map>
#include <memory>
#include <vector>

#include "gui/model/selection.h"
#include "gui/model/time_view.h"
#include "storage/replay/analysis.h"
#include "storage/replay/holders.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

class ColumnCache;

/// A Grouping and what a legend wants to know about it. Immutable once made.
struct Groups {
    Grouping grouping;
    std::vector<StackId> stack;  ///< the stack of each group where it has just one, else 0
    int rest = 0;                ///< index of "the rest", always the last
    int count() const { return static_cast<int>(grouping.names.size()); }
};

/// A part of the run shown at first because nearly all events lie in it.
struct StartView {
    double from = 0, to = 0;  ///< axis units
    double share = 0;         ///< of all events
};

/// Immutable after construction except for what hangs on signals. Lives on the GUI thread; its const parts
/// (trace, analysis) may be read from any thread while the session is kept alive by a shared_ptr.
class Session : public QObject {
    Q_OBJECT
public:
    /// Builds the analysis of every device. Thread: any.
    static std::vector<std::shared_ptr<const Analysis>> analyse(const std::shared_ptr<const Trace>& trace);

    /// May be made on a worker thread (then moveToThread the GUI's): groups of the first device are made here.
    Session(std::shared_ptr<const Trace> trace, std::vector<std::shared_ptr<const Analysis>> analyses,
            QObject* parent = nullptr);

    const Trace& trace() const { return *trace_; }
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
    GroupBy group_by() const { return group_by_; }
    void set_group_by(GroupBy by);
    /// The largest groups of the selected device (at its peak and over time) and "the rest"; made on first use.
    const Grouping& grouping() const { return shared_groups()->grouping; }
    std::shared_ptr<const Groups> shared_groups() const;

    /// After the language changed: names are made anew.
    void rename_groups();

    /// While the view is the one chosen at the start, and not the whole run.
    std::optional<StartView> start_view() const;

    /// Shared by the plots, which cut the same span into the same columns.
    const std::shared_ptr<ColumnCache>& column_cache() const { return column_cache_; }

    /// The group everything else is dimmed for, or -1. With GroupBy::stack it is the chosen stack's group.
    int chosen_group() const;
    /// Chooses a group: its stack where groups are stacks, else only its colour lights up. -1 chooses none.
    void choose_group(int group);
    /// Esc: the selection and the chosen group.
    void clear_choice();

    /// Puts the cursor on the highest allocated bytes of the selected device.
    void go_to_peak();

signals:
    void grouping_changed();
    void group_chosen();

private:
    size_t device_position() const { return static_cast<size_t>(selection_.state().device); }
    void show_device();
    void show_events();

    std::shared_ptr<const Trace> trace_;
    std::vector<std::shared_ptr<const Analysis>> analyses_;
    Selection selection_{this};
    TimeView time_view_{this};
    std::shared_ptr<ColumnCache> column_cache_;
    GroupBy group_by_ = GroupBy::stack;
    int chosen_group_ = -1;
    std::optional<StartView> start_view_;
    mutable std::map<std::pair<size_t, GroupBy>, std::shared_ptr<const Groups>> groups_;
};

}  // namespace tidemark::gui
