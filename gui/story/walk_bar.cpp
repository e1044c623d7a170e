// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/walk_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/palette.h"
#include "gui/widgets/text_block.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

WalkBar::WalkBar(QWidget* parent)
    : QFrame(parent),
      count_(new QLabel),
      text_(new TextBlock(tr("What this step shows"))),
      back_(new QPushButton(tr("Back"))),
      next_(new QPushButton) {
    setObjectName(QStringLiteral("walk"));
    setAccessibleName(tr("Guide through the evidence"));
    setFrameShape(QFrame::StyledPanel);
    auto* close = tool_button(QStringLiteral("✕"), tr("End the guide (Esc)"), [this] { emit end_requested(); });
    connect(back_, &QPushButton::clicked, this, [this] { emit step_requested(step_ - 1); });
    connect(next_, &QPushButton::clicked, this, &WalkBar::go_on);
    back_->setObjectName(QStringLiteral("walk_back"));
    next_->setObjectName(QStringLiteral("walk_next"));
    auto* row = new QHBoxLayout;
    row->addWidget(count_, 1);
    row->addWidget(back_);
    row->addWidget(next_);
    row->addWidget(close);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 8, 8, 8);
    column->addWidget(text_);
    column->addLayout(row);
}

void WalkBar::show_step(const QString& title, int step, int steps, const QString& text) {
    step_ = step;
    steps_ = steps;
    count_->setText(tr("%1 of %2").arg(step + 1).arg(steps));
    text_->show_html(QStringLiteral("<div style=\"color:%1\">%2</div><div>%3</div>")
                         .arg(Theme::current().faint_text.name(), rich_text(title), rich_text(text)));
    back_->setEnabled(step > 0);
    next_->setText(step + 1 < steps ? tr("Next") : tr("Done"));
    next_->setAccessibleName(step + 1 < steps ? tr("Next step") : tr("End the guide"));
    show();
    next_->setFocus();
}

QString WalkBar::text() const { return text_->text(); }

void WalkBar::go_on() {
    if (step_ + 1 < steps_) {
        emit step_requested(step_ + 1);
    } else {
        emit end_requested();
    }
}

void WalkBar::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Escape: emit end_requested(); break;
        case Qt::Key_Right: go_on(); break;
        case Qt::Key_Left:
            if (step_ > 0) {
                emit step_requested(step_ - 1);
            }
            break;
        default: QFrame::keyPressEvent(event);
    }
}

}  // namespace tidemark::gui
