// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/page_layout.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <algorithm>
#include <utility>

#include "gui/app/settings.h"
#include "gui/widgets/upright_button.h"

namespace tidemark::gui {

namespace {

constexpr int narrow = 1288;  // pixels, of a window of 1300; in narrower ones the plots need the room
constexpr int story_width = 320, inspector_width = 300;
constexpr int plots_height = 560, drawer_height = 300;
constexpr int low_drawer_height = 500;  // of a low window, in the same share: its panes need room for a few rows
constexpr int low = 620;                // pixels, of a window of about 760

QString setting_of_heights(bool is_low) {
    return is_low ? QStringLiteral("layout/low_stage") : QStringLiteral("layout/stage");
}

}  // namespace

PageLayout::PageLayout(Parts parts, QWidget* parent)
    : QWidget(parent),
      parts_(std::move(parts)),
      stage_(new QSplitter(Qt::Vertical)),
      columns_(new QSplitter(Qt::Horizontal)),
      story_strip_(new UprightButton(tr("Why"), tr("Show or hide why (Y)"))) {
    for (QWidget* part : {parts_.plots, static_cast<QWidget*>(parts_.drawer)}) {
        stage_->addWidget(part);
    }
    share_height();
    for (QWidget* part : {parts_.story, static_cast<QWidget*>(stage_), parts_.inspector}) {
        columns_->addWidget(part);
    }
    columns_->setStretchFactor(1, 1);
    columns_->setSizes({story_width, 1000, inspector_width});
    for (QSplitter* splitter : {stage_, columns_}) {
        splitter->setChildrenCollapsible(false);
        splitter->setHandleWidth(5);
    }
    parts_.story->setMinimumWidth(240);
    parts_.story->setAutoFillBackground(true);  // it may cover the stage
    parts_.inspector->hide();
    story_strip_->hide();
    connect(story_strip_, &QToolButton::clicked, this, [this] { set_story(!shows_story_); });
    connect(parts_.drawer, &QTabWidget::tabBarDoubleClicked, this,
            [this] { set_drawer_fills_stage(!drawer_fills_stage_); });
    connect(parts_.drawer, &QTabWidget::currentChanged, this, &PageLayout::give_room);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    row->addWidget(story_strip_);
    row->addWidget(columns_, 1);
}

void PageLayout::set_story(bool wanted) {
    wants_story_ = wanted;
    show_story(wanted);
}

void PageLayout::show_story(bool shown) {
    shows_story_ = shown;
    place_story();
    parts_.story->setVisible(shown);
    if (story_covers_stage() && stage_->isAncestorOf(QApplication::focusWidget())) {
        parts_.story->setFocus();  // what has the focus may be covered
    }
    story_strip_->setVisible(!shown || is_narrow_);
    story_strip_->set_mark(shown ? QChar(u'«') : QChar(u'»'));
    emit changed();
}

/// Places the story beside the stage, in a narrow window over it: then the plots keep their width.
void PageLayout::place_story() {
    const bool is_beside = columns_->indexOf(parts_.story) >= 0;
    if (is_narrow_) {
        if (is_beside) {
            parts_.story->setParent(this);
        }
        const int left = story_strip_->sizeHint().width() + 2;
        parts_.story->setGeometry(left, 0, std::min(story_width, width() - left), height());
        parts_.story->raise();
    } else if (!is_beside) {
        columns_->insertWidget(0, parts_.story);
    }
}

/// Shows or hides the story only when the window becomes narrow or wide; in between the user decides.
void PageLayout::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (is_low() != stage_is_low_) {
        heights_of(stage_is_low_) = stage_->saveState();
        stage_is_low_ = is_low();
        share_height();
    }
    if ((width() < narrow) != is_narrow_) {
        is_narrow_ = !is_narrow_;
        show_story(wants_story_ && !is_narrow_);
    } else if (is_narrow_) {
        place_story();
    }
    if (fills_for_room_) {
        give_room();  // the window may be high enough for the plots again
    }
}

bool PageLayout::is_low() const { return height() < low; }

/// Divides the stage as the user did in windows of this height, at first by a fixed share.
void PageLayout::share_height() {
    if (const QByteArray& heights = heights_of(stage_is_low_); heights.isEmpty()) {
        stage_->setSizes({plots_height, stage_is_low_ ? low_drawer_height : drawer_height});
    } else {
        stage_->restoreState(heights);
    }
}

/// Lets a spacious pane that the user opens in a low window fill the stage, until another pane is open.
void PageLayout::give_room() {
    const auto& spacious = parts_.spacious;
    const bool needs_stage =
        is_low() && std::find(spacious.begin(), spacious.end(), parts_.drawer->currentWidget()) != spacious.end();
    if (needs_stage && !drawer_fills_stage_) {
        set_drawer_fills_stage(true);
        fills_for_room_ = true;
    } else if (!needs_stage && fills_for_room_) {
        set_drawer_fills_stage(false);
    }
}

void PageLayout::set_inspector(bool shown) {
    if (shows_inspector_ != shown) {
        shows_inspector_ = shown;
        parts_.inspector->setVisible(shown);
        emit changed();
    }
}

void PageLayout::set_drawer_fills_stage(bool fills) {
    fills_for_room_ = false;
    if (drawer_fills_stage_ != fills) {
        drawer_fills_stage_ = fills;
        parts_.plots->setVisible(!fills);
        emit changed();
    }
}

void PageLayout::save(Settings& settings) const {
    settings.set(setting_of_heights(stage_is_low_), stage_->saveState());
    settings.set(setting_of_heights(!stage_is_low_), stage_is_low_ ? heights_ : low_heights_);
    if (!is_narrow_) {  // else the story is not among the columns
        settings.set(QStringLiteral("layout/columns"), columns_->saveState());
    }
    settings.set(QStringLiteral("layout/why"), wants_story_);
    settings.set(QStringLiteral("layout/tab"), parts_.drawer->currentIndex());
}

void PageLayout::restore(const Settings& settings) {
    for (const bool is_low : {false, true}) {
        heights_of(is_low) = settings.value(setting_of_heights(is_low)).toByteArray();
    }
    share_height();
    columns_->restoreState(settings.value(QStringLiteral("layout/columns")).toByteArray());
    set_story(settings.value(QStringLiteral("layout/why"), true).toBool());
    const QSignalBlocker blocker(parts_.drawer);  // the window begins with its plots
    parts_.drawer->setCurrentIndex(settings.value(QStringLiteral("layout/tab"), 0).toInt());
}

}  // namespace tidemark::gui
