// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/toolbar.h"

#include <QLineEdit>
#include <QToolButton>

#include "gui/widgets/wrapping_layout.h"

namespace tidemark::gui {

namespace {
constexpr double zoom_step = 1.25;
}

QToolButton* tool_button(const QString& text, const QString& tip, std::function<void()> on_click) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    QObject::connect(button, &QToolButton::clicked, button, std::move(on_click));
    return button;
}

QLineEdit* input_field(const QString& hint, const QString& accessible_name) {
    auto* field = new QLineEdit;
    field->setPlaceholderText(hint);
    field->setAccessibleName(accessible_name);
    field->setClearButtonEnabled(true);
    return field;
}

Toolbar::Toolbar(QWidget* parent) : QWidget(parent), controls_(new WrappingLayout(this)) {
    controls_->setContentsMargins(8, 4, 8, 0);
}

void Toolbar::add(QWidget* control) { controls_->addWidget(control); }

void Toolbar::add_right(QWidget* control) {
    controls_->addWidget(control);
    controls_->setAlignment(control, Qt::AlignRight);
}

void Toolbar::add_zoom(std::function<void(double factor)> zoom, std::function<void()> fit) {
    add(tool_button(QStringLiteral("−"), tr("Zoom out (-)"), [zoom] { zoom(1 / zoom_step); }));
    add(tool_button(QStringLiteral("+"), tr("Zoom in (+)"), [zoom] { zoom(zoom_step); }));
    add(tool_button(tr("Fit"), tr("Show everything (0)"), std::move(fit)));
}

}  // namespace tidemark::gui
