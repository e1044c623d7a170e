// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the Changes pane compares: a range, two traces or two steps, and the controls of each.
#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

#include "gui/changes/changes_pane.h"
#include "gui/changes/comparison_plot.h"
#include "gui/model/grouping.h"

namespace tidemark::gui {

ComparedPoints ChangesPane::mode() const {
    return other_ ? ComparedPoints::traces : asked_step_ || steps_ ? ComparedPoints::steps : ComparedPoints::range;
}

bool ChangesPane::can_swap() const {
    const ComparedPoints now = mode();
    return now == ComparedPoints::steps || (now == ComparedPoints::traces && session_ && !session_->is_live());
}

void ChangesPane::compare_with(std::shared_ptr<Session> other) {
    stop_comparing();
    other_ = std::move(other);
    connect(&other_->graph_source(), &GraphSource::changed, this, &ChangesPane::schedule);
    other_->load_graph();
    fill_devices();
    select_same_device();
    select_points(PointsToCompare::peaks);
    show_mode();
    schedule();
}

void ChangesPane::compare_step(const TimePoint& point, OtherStep other) {
    enter_steps();
    select_points(PointsToCompare::peaks);
    asked_step_ = AskedStep{point, other};
    steps_.reset();
    show_mode();
    request();
}

void ChangesPane::compare_steps(const StepNumbers& steps) {
    enter_steps();
    asked_step_.reset();
    steps_ = steps;
    show_mode();
    schedule();
}

void ChangesPane::ask_step() {
    if (session_) {
        compare_step(session_->selection().state().time_point, OtherStep::largest);
        step_b_->setFocus(Qt::ShortcutFocusReason);
        step_b_->selectAll();
    }
}

void ChangesPane::enter_steps() {
    if (other_) {
        stop_comparing();
    }
    discard_runs();
}

void ChangesPane::stop_comparing() {
    if (other_) {
        other_->graph_source().disconnect(this);
    }
    other_ = nullptr;
    needs_device_ = false;
    asked_step_.reset();
    steps_.reset();
    discard_runs();
    show_mode();
    schedule();
}

ChangesPane::Compared ChangesPane::compared() const {
    return {other_, other_device_->currentIndex(), asked_step_, steps_, points(), chosen_by_};
}

void ChangesPane::compare(const Compared& compared) {
    if (compared.chosen_by) {
        chosen_by_ = compared.chosen_by;
        by_->setCurrentIndex(place_of(*chosen_by_));
    }
    if (compared.other) {
        compare_with(compared.other);
        other_device_->setCurrentIndex(compared.device);
        if (compared.device >= 0) {
            select_other_device(compared.device);
        }
    } else if (compared.asked_step) {
        compare_step(compared.asked_step->point, compared.asked_step->other);
    } else if (compared.steps) {
        compare_steps(*compared.steps);
    }
    select_points(compared.points);
}

/// Shows the controls of what is compared.
void ChangesPane::show_mode() {
    const ComparedPoints now = mode();
    compare_->setVisible(now == ComparedPoints::range);
    stop_->setVisible(now != ComparedPoints::range);
    swap_->setVisible(can_swap());
    points_->setVisible(now != ComparedPoints::range);
    step_a_->setVisible(now == ComparedPoints::steps);
    step_b_->setVisible(now == ComparedPoints::steps);
    other_device_->setVisible(now == ComparedPoints::traces && other_->trace().devices.size() > 1);
    show_columns();
    if (now == ComparedPoints::range) {
        plot_->show_changes(nullptr);
        plot_->hide();
    }
    emit mode_changed();
}

PointsToCompare ChangesPane::points() const { return static_cast<PointsToCompare>(points_->currentIndex()); }

void ChangesPane::select_points(PointsToCompare points) { points_->setCurrentIndex(static_cast<int>(points)); }

/// A cursor that the user moves says where to compare; that of a growing run moves by itself.
void ChangesPane::follow_cursor() {
    if (mode() != ComparedPoints::range && isVisible()) {
        if (!session_->is_live()) {
            select_points(PointsToCompare::cursor);
        }
        schedule();
    }
}

/// Two traces share no allocations. Beside the plot there may be no room for those that only one step has.
void ChangesPane::show_columns() {
    const bool has_room = mode() == ComparedPoints::range || table_->width() >= wide_table();
    for (const int column : {ChangesModel::made, ChangesModel::freed}) {
        table_->setColumnHidden(column, mode() == ComparedPoints::traces || !has_room);
    }
}

int ChangesPane::wide_table() const {
    return fontMetrics().averageCharWidth() * 40 + 5 * table_->columnWidth(ChangesModel::difference);
}

void ChangesPane::fill_devices() {
    other_device_->clear();
    for (const DeviceHistory& device : other_->trace().devices) {
        other_device_->addItem(tr("B: device %1").arg(device.device));
    }
}

void ChangesPane::select_other_device(int position) {
    needs_device_ = false;
    other_->selection().select_device(position);
    discard_runs();
    schedule();
    emit mode_changed();
}

/// Compares equal devices; where there is none, the user selects one.
void ChangesPane::select_same_device() {
    if (!other_ || !session_) {
        return;
    }
    const auto position = device_to_compare(other_->trace(), session_->device().device);
    needs_device_ = !position;
    other_device_->setCurrentIndex(position ? static_cast<int>(*position) : -1);
    if (position) {
        other_->selection().select_device(static_cast<int>(*position));
    }
}

}  // namespace tidemark::gui
