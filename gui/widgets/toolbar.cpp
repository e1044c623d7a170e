// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/toolbar.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>

#include "gui/widgets/wrapping_layout.h"

namespace tidemark::gui {

namespace {
constexpr double zoom_step = 1.25;

/// Esc empties the field; in an empty one it belongs to the window.
class InputField : public QLineEdit {
protected:
    bool event(QEvent* event) override {
        if (event->type() == QEvent::ShortcutOverride && is_for_field(*static_cast<QKeyEvent*>(event))) {
            event->accept();
            return true;
        }
        return QLineEdit::event(event);
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (is_for_field(*event)) {
            clear();
        } else {
            QLineEdit::keyPressEvent(event);
        }
    }

private:
    bool is_for_field(const QKeyEvent& event) const { return event.key() == Qt::Key_Escape && !text().isEmpty(); }
};

}  // namespace

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
    auto* field = new InputField;
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
