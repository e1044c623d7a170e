// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/live_strip.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <cmath>

#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t lengths[] = {0, 10 * second, 60 * second, 600 * second};
constexpr int custom_length = static_cast<int>(std::size(lengths));

/// Returns "0.13 s": always in seconds, so that the figure does not move.
QString seconds_text(int64_t nanoseconds) {
    const double seconds = static_cast<double>(nanoseconds) / 1e9;
    return LiveStrip::tr("%1 s").arg(seconds, 0, 'f', seconds < 9.995 ? 2 : 0);
}

}  // namespace

LiveStrip::LiveStrip(QWidget* parent)
    : QWidget(parent),
      dot_(new QLabel),
      state_(new QLabel),
      events_(new QLabel),
      rate_(new QLabel),
      behind_(new QLabel),
      on_screen_(new QLabel),
      tail_(new QToolButton),
      length_(new QComboBox),
      freeze_(new QToolButton) {
    setObjectName(QStringLiteral("live"));
    setAccessibleName(tr("The recording"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    dot_->setTextFormat(Qt::PlainText);
    QFont bold = state_->font();
    bold.setBold(true);
    state_->setFont(bold);
    row->addWidget(dot_);
    row->addWidget(state_);
    row->addSpacing(10);
    const std::tuple<QLabel*, QString, int> figures[] = {
        {events_, tr("Events in the trace so far"), 17},
        {rate_, tr("Events per second over the last seconds"), 14},
        {behind_, tr("Delay between the program and the committed part of the trace"), 17},
        {on_screen_, tr("Delay between the newest event and its picture in this window"), 22}};
    for (const auto& [label, tip, digits] : figures) {
        label->setToolTip(tip);
        label->setAccessibleDescription(tip);
        label->setMinimumWidth(fontMetrics().horizontalAdvance(u'0') * digits);
        row->addWidget(label);
    }
    row->addStretch(1);
    tail_->setText(tr("Follow the end"));
    tail_->setCheckable(true);
    tail_->setToolTip(tr("Follows the newest events (T). Moving the view away from the end turns this off."));
    length_->addItems({tr("whole run"), tr("last 10 s"), tr("last minute"), tr("last 10 minutes")});
    length_->setAccessibleName(tr("Length of the followed part of the run"));
    length_->setToolTip(length_->accessibleName());
    freeze_->setText(tr("Freeze"));
    freeze_->setCheckable(true);
    freeze_->setToolTip(tr("Freezes the window (Shift+T); recording continues."));
    row->addWidget(tail_);
    row->addWidget(length_);
    row->addSpacing(8);
    row->addWidget(freeze_);
    connect(tail_, &QToolButton::clicked, this, [this](bool on) {
        if (session_) {
            session_->time_view().follow_tail(on);
        }
    });
    connect(length_, &QComboBox::activated, this, &LiveStrip::select_length);
    connect(freeze_, &QToolButton::clicked, this, &LiveStrip::freeze_requested);
    show_state();
}

void LiveStrip::set_session(Session* session) {
    if (session_) {
        session_->time_view().disconnect(this);
    }
    session_ = session;
    if (session_) {
        connect(&session_->time_view(), &TimeView::tail_changed, this, &LiveStrip::show_tail);
    }
    for (QLabel* label : {events_, rate_, behind_, on_screen_}) {
        label->clear();
    }
    show_tail();
}

void LiveStrip::show_figures(const LiveFigures& figures) {
    events_->setText(tr("%1 event(s)", nullptr, plural(figures.events)).arg(count_text(figures.events)));
    rate_->setText(tr("%1 per second").arg(count_text(std::llround(figures.events_per_second))));
    behind_->setText(figures.behind ? tr("%1 behind").arg(seconds_text(*figures.behind)) : QString());
}

void LiveStrip::show_on_screen(std::optional<int64_t> nanoseconds) {
    on_screen_->setText(nanoseconds ? tr("on screen after %1").arg(seconds_text(*nanoseconds)) : QString());
}

void LiveStrip::set_frozen(bool frozen) {
    frozen_ = frozen;
    freeze_->setChecked(frozen);
    show_state();
}

void LiveStrip::show_state() {
    const Theme theme = Theme::current();
    dot_->setText(frozen_ ? QStringLiteral("❚❚") : QStringLiteral("●"));
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, frozen_ ? theme.faint_text : theme.oom);
    dot_->setPalette(colors);
    state_->setText(frozen_ ? tr("Recording, window frozen") : tr("Recording"));
}

void LiveStrip::select_length(int index) {
    if (session_ && index < custom_length) {
        session_->time_view().set_tail_length(lengths[index]);
    }
}

void LiveStrip::show_tail() {
    const bool on = session_ && session_->time_view().follows_tail();
    tail_->setChecked(on);
    const int64_t length = session_ ? session_->time_view().tail_length() : 0;
    const auto* found = std::find(std::begin(lengths), std::end(lengths), length);
    const QSignalBlocker quiet(length_);
    while (length_->count() > custom_length) {
        length_->removeItem(custom_length);
    }
    if (found == std::end(lengths)) {
        length_->addItem(tr("last %1").arg(duration_text(length)));
    }
    length_->setCurrentIndex(static_cast<int>(found - std::begin(lengths)));
}

void LiveStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && parentWidget() != nullptr) {
        show_state();
    }
}

}  // namespace tidemark::gui
