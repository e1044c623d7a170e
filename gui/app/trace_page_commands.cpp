// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What menus, keys and the header do with a trace page.
#include <QMessageBox>

#include "gui/app/trace_page.h"
#include "gui/changes/comparison_plot.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

void TracePage::zoom(double factor) {
    TimeView& view = session_->time_view();
    const double cursor = view.position_of(session_->selection().state().time_point);
    const bool cursor_visible = cursor >= view.from() && cursor <= view.to();
    view.zoom(factor, view.pointer().value_or(cursor_visible ? cursor : (view.from() + view.to()) / 2));
}

void TracePage::focus() {
    const auto& range = session_->selection().state().range;
    if (allocations_->focus_selected()) {
        return;
    }
    if (range) {
        session_->time_view().show(range->first, range->second);
    } else {
        show_all();
    }
}

void TracePage::show_all() {
    session_->time_view().show_all();
    timeline_->show_all_bytes();
    finding_plot_->show_all_bytes();
    allocations_->show_all_bytes();
}

void TracePage::reveal_time_point() { session_->time_view().reveal(session_->selection().state().time_point); }

void TracePage::follow_selection() {
    const SelectionState& selected = session_->selection().state();
    if (selected.allocation != no_allocation || selected.segment != no_segment || selected.node || selected.stack) {
        arrangement_->set_inspector(true);
    }
}

void TracePage::go_to_peak() { session_->go_to_peak(); }

void TracePage::go_to_oom(int direction) {
    const EventNumber now = last_state(session_->device(), session_->selection().state().time_point);
    std::optional<EventNumber> best;
    for (const OtherEvent& other : session_->device().others) {
        const bool ahead = direction > 0 ? other.event > now : other.event < now;
        if (other.action == Action::oom && ahead && (!best || direction < 0)) {
            best = other.event;
        }
    }
    if (best) {
        session_->selection().set_time_point(*best);
    }
}

void TracePage::go_to_iteration(int direction) {
    const EventNumber now = last_state(session_->device(), session_->selection().state().time_point);
    const Iterations& iterations = session_->shared_iterations()->get();
    const auto& all = iterations.all();
    const auto next = std::partition_point(all.begin(), all.end(), [now, direction](const Iteration& iteration) {
        return direction > 0 ? iteration.first <= now : iteration.first < now;
    });
    if (direction > 0 ? next != all.end() : next != all.begin()) {
        session_->selection().set_time_point(direction > 0 ? next->first : std::prev(next)->first);
    }
}

void TracePage::go_to_finding(int direction) {
    const std::vector<FindingFlag>& flags = overview_->flags();
    const int selected = session_->explanation_source().selected();
    const auto now = std::find_if(flags.begin(), flags.end(),
                                  [selected](const FindingFlag& flag) { return flag.finding == selected; });
    const auto position = now == flags.end() ? (direction > 0 ? 0 : static_cast<int>(flags.size()) - 1)
                                             : static_cast<int>(now - flags.begin()) + direction;
    if (position >= 0 && position < static_cast<int>(flags.size())) {
        arrangement_->set_story(true);
        why_->select_finding(flags[static_cast<size_t>(position)].finding);
    }
}

void TracePage::show_data_gaps() {
    QString html;
    for (const DataGap& data_gap : session_->data_gaps()) {
        html += QStringLiteral("<p>• %1</p>").arg(data_gap_text(data_gap).toHtmlEscaped());
    }
    auto* box =
        new QMessageBox(QMessageBox::Information, tr("Data gaps of this trace"),
                        html.isEmpty() ? tr("None: the whole history is recorded.") : html, QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

bool TracePage::close_transient() {
    if (why_->end_walk() || HoverTip::close_all(*window())) {
        return true;
    }
    const bool covers = arrangement_->story_covers_stage();
    if (covers) {
        arrangement_->set_story(false);
    }
    return covers;
}

void TracePage::set_wheel_mode(WheelMode mode) {
    for (TimePlot* plot : findChildren<TimePlot*>()) {
        plot->set_wheel_mode(mode);
    }
    changes_->plot().set_wheel_mode(mode);
}

void TracePage::find_in_table() {
    tabs_->setCurrentWidget(table_);
    table_->focus_filter();
}

std::vector<PaneCommand> TracePage::pane_commands() const {
    std::vector<PaneCommand> all;
    const auto add = [&all](const QWidget& pane, const QString& name) {
        if (pane.isVisible()) {
            auto commands = gui::pane_commands(pane, name);
            std::move(commands.begin(), commands.end(), std::back_inserter(all));
        }
    };
    add(*tabs_->currentWidget(), tabs_->tabText(tabs_->currentIndex()));
    add(*why_, tr("Why"));
    add(*details_, tr("Details"));
    add(*strip_, strip_->accessibleName());
    return all;
}

void TracePage::set_color_by(ColorBy by) {
    allocations_->set_color_by(by);
    color_by_->setCurrentIndex(static_cast<int>(by));
    emit colors_changed();
}

void TracePage::set_group_by(const GroupOption& choice) { session_->set_group_by(choice); }

void TracePage::show_group_option() {
    group_by_->setCurrentIndex(place_of(session_->group_option()));
    emit colors_changed();
}

void TracePage::set_axis(TimeAxis axis) {
    session_->time_view().set_axis(axis);
    axis_->setCurrentIndex(static_cast<int>(axis));
    emit colors_changed();
}

void TracePage::refresh_now() {
    overview_->repaint();
    timeline_->refresh_now();
    finding_plot_->refresh_now();
    allocations_->refresh_now();
}

void TracePage::save_layout(Settings& settings) const {
    settings.set(QStringLiteral("layout/plots"), plot_column_->saveState());
    arrangement_->save(settings);
    settings.set(QStringLiteral("layout/table"), table_->save_state());
    settings.set(QStringLiteral("layout/graph"), graph_->save_state());
    settings.set(QStringLiteral("sql/query"), sql_->editor().toPlainText());
    settings.set(QStringLiteral("sql/history"), sql_->history());
    settings.set(QStringLiteral("source/moved_folders"), source_->moved_folders());
    settings.set(QStringLiteral("source/editor"), source_->editor());
}

void TracePage::restore_layout(const Settings& settings) {
    plot_column_->restoreState(settings.value(QStringLiteral("layout/plots")).toByteArray());
    arrangement_->restore(settings);
    table_->restore_state(settings.value(QStringLiteral("layout/table")).toByteArray());
    graph_->restore_state(settings.value(QStringLiteral("layout/graph")).toByteArray());
    sql_->restore(settings.value(QStringLiteral("sql/query")).toString(),
                  settings.value(QStringLiteral("sql/history")).toStringList());
    source_->restore(settings.value(QStringLiteral("source/moved_folders")).toStringList(),
                     settings.value(QStringLiteral("source/editor")).toString());
}

}  // namespace tidemark::gui
