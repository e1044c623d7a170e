// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The comparison of the trace page with another trace, and of two of its steps.
#include <QClipboard>
#include <QDateTime>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QMessageBox>
#include <utility>

#include "gui/app/trace_page.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/widgets/ask_path.h"

namespace tidemark::gui {

namespace {

/// Returns whether both times are known and `a` is the older one.
bool is_recorded_before(const Trace& a, const Trace& b) {
    return a.start_utc_ns != 0 && b.start_utc_ns != 0 && a.start_utc_ns < b.start_utc_ns;
}

/// Returns "monday.tide (2026-11-27 14:27:05)"; only the name if the time is unknown.
QString dated_name(const Trace& trace) {
    const QString name = QFileInfo(to_qstring(trace.path)).fileName();
    const QDateTime start = QDateTime::fromMSecsSinceEpoch(trace.start_utc_ns / 1'000'000);
    return trace.start_utc_ns == 0 ? name
                                   : TracePage::tr("%1 (%2)", "a file and its time")
                                         .arg(name, start.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")));
}

}  // namespace

void TracePage::connect_comparison() {
    connect(changes_, &ChangesPane::trace_requested, this, &TracePage::compare_trace);
    connect(changes_, &ChangesPane::mode_changed, this, &TracePage::follow_comparison);
    connect(changes_, &ChangesPane::swap_requested, this, &TracePage::swap_requested);
    for (TimePlot* plot : {static_cast<TimePlot*>(timeline_), static_cast<TimePlot*>(finding_plot_),
                           static_cast<TimePlot*>(allocations_)}) {
        connect(plot, &TimePlot::menu_requested, this, &TracePage::show_step_menu);
    }
    connect(&other_trace_, &Loader::failed, this, &TracePage::report_no_comparison);
    connect(&other_trace_, &Loader::opened, this, [this](const Opened& opened) {
        if (opened.session->has_device()) {
            changes_->compare_with(opened.session);
            reveal_comparison();
            if (is_recorded_before(opened.session->trace(), session_->trace())) {
                // The window shows A. Later, since the loader that reports the trace belongs to the page.
                QTimer::singleShot(0, this, &TracePage::swap_requested);
            }
        } else {
            report_no_comparison(tr("%1 has no memory events of any device, so there is nothing to compare.")
                                     .arg(shown_file_name(QFileInfo(opened.trace_path).fileName())));
        }
    });
}

/// In a low pane, the plots of one trace give their room to the plot and the table of both.
void TracePage::reveal_comparison() {
    tabs_->setCurrentWidget(changes_);
    if ((arrangement_->is_low() || changes_->is_low()) && !arrangement_->drawer_fills_stage()) {
        comparison_fills_stage_ = true;
        arrangement_->set_drawer_fills_stage(true);
    }
}

/// The plots come back later: a swap ends one comparison and begins the next.
void TracePage::follow_comparison() {
    QTimer::singleShot(0, this, [this] {
        if (changes_->mode() == ComparedPoints::range && std::exchange(comparison_fills_stage_, false)) {
            arrangement_->set_drawer_fills_stage(false);
        }
    });
    summary_bar_->compare_with(compared_trace());
    if (session_) {
        fill_facts();
    }
    emit comparison_changed();
}

/// Returns B; null if no trace is compared, or the user has not selected its device yet.
std::shared_ptr<Session> TracePage::compared_trace() const {
    const ChangesPane::Compared compared = changes_->compared();
    return compared.device >= 0 ? compared.other : nullptr;
}

/// Says which trace is A, which one B, and why: the window makes the older one A, whichever was opened first.
QString TracePage::compared_facts(const Trace& b) const {
    const Trace& a = session_->trace();
    const QString older = is_recorded_before(a, b)   ? tr("%1, the older recording")
                          : is_recorded_before(b, a) ? tr("%1, the newer recording")
                                                     : QStringLiteral("%1");
    return QStringLiteral("<b>A</b> %1 &nbsp; <b>B</b> %2")
        .arg(older.arg(dated_name(a)).toHtmlEscaped(), dated_name(b).toHtmlEscaped());
}

void TracePage::report_no_comparison(const QString& sentence) {
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Compare"), sentence, QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

void TracePage::compare_trace() {
    const QString folder = QFileInfo(file_name_from_bytes(session_->trace().path)).absolutePath();
    ask_path(this, {tr("Compare with another trace"), folder, trace_filters(), QFileDialog::ExistingFile},
             [this](const QStringList& files) { compare_with(files.front()); });
}

void TracePage::compare_with(const QString& path) { other_trace_.load(path); }

void TracePage::compare_step(OtherStep other) {
    tabs_->setCurrentWidget(changes_);
    changes_->compare_step(session_->selection().state().time_point, other);
}

void TracePage::compare_step_by_number() {
    tabs_->setCurrentWidget(changes_);
    changes_->ask_step();
}

bool TracePage::is_in_range(const TimePoint& point) const {
    const auto& range = session_->selection().state().range;
    const double position = session_->time_view().position_of(point);
    return range && position >= range->first && position <= range->second;
}

/// Offers what can be done with the selected range.
void TracePage::add_range_actions(QMenu& menu) {
    const auto range = *session_->selection().state().range;
    menu.addAction(tr("Zoom to the range"), this,
                   [this, range] { session_->time_view().show(range.first, range.second); });
    menu.addAction(tr("Compare the start and the end of the range"), this, [this] {
        changes_->stop_comparing();
        tabs_->setCurrentWidget(changes_);
    });
    menu.addAction(tr("Copy the range"), this, [this, range] {
        const TimeView& view = session_->time_view();
        const auto point = [&](double at) {
            return point_text(session_->trace(), session_->device(), view.point_at(at));
        };
        QGuiApplication::clipboard()->setText(
            tr("%1 to %2: %3", "two points in time, and what is between them")
                .arg(point(range.first), point(range.second), timeline_->describe_ends(range)));
    });
    menu.addSeparator();
}

/// Offers the same for the step under the pointer as the menu Compare does for the step at the cursor.
void TracePage::show_step_menu(const TimePoint& point, QPoint at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString& text, OtherStep other) {
        menu->addAction(text, this, [this, point, other] {
            tabs_->setCurrentWidget(changes_);
            changes_->compare_step(point, other);
        });
    };
    if (is_in_range(point)) {
        add_range_actions(*menu);
    }
    add(tr("Compare this step with the previous one"), OtherStep::previous);
    add(tr("Compare this step with the next one"), OtherStep::next);
    add(tr("Compare this step with the largest one"), OtherStep::largest);
    menu->addAction(tr("Compare this step with a number…"), this, [this, point] {
        session_->selection().set_time_point(point);
        compare_step_by_number();
    });
    menu->popup(at);
}

}  // namespace tidemark::gui
