// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/steady_text.h"

#include <QEvent>
#include <algorithm>

namespace tidemark::gui {

namespace {
constexpr int usual_width = 300, least_width = 40, side_margin = 10;  // pixels
}  // namespace

SteadyText::SteadyText(const QString& name, Qt::TextFormat format, QWidget* parent)
    : QWidget(parent), label_(new QLabel(this)) {
    label_->setAccessibleName(name);
    label_->setTextFormat(format);
    label_->setWordWrap(true);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label_->setContentsMargins(side_margin, 0, side_margin, 0);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void SteadyText::show_text(const QString& text) {
    if (text != label_->text()) {
        label_->setText(text);
        measure_again();
    }
}

void SteadyText::measure_again() {
    known_width_ = -1;
    if (heightForWidth(width()) != height()) {
        updateGeometry();
    }
}

int SteadyText::heightForWidth(int width) const {
    if (width != known_width_) {
        known_width_ = width;
        known_height_ = label_->heightForWidth(width);
    }
    return known_height_;
}

QSize SteadyText::sizeHint() const { return {usual_width, heightForWidth(std::max(width(), usual_width))}; }

QSize SteadyText::minimumSizeHint() const { return {least_width, fontMetrics().height()}; }

void SteadyText::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    label_->setGeometry(rect());
}

void SteadyText::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        measure_again();
    }
}

}  // namespace tidemark::gui
