// A flat button of a pane's own bar.
#pragma once

#include <QToolButton>

namespace tidemark::gui {

/// The tip is also what a screen reader says. It belongs to whatever layout it is put into.
inline QToolButton* tool_button(const QString& text, const QString& tip) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    return button;
}

}  // namespace tidemark::gui
