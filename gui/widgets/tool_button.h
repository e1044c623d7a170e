// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A flat button of a pane's bar.
#pragma once

#include <QToolButton>

namespace tidemark::gui {

/// Returns a button whose tip is also its name for screen readers. Its layout owns it.
inline QToolButton* tool_button(const QString& text, const QString& tip) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setAutoRaise(true);
    return button;
}

}  // namespace tidemark::gui
