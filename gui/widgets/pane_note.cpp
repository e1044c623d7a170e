// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/pane_note.h"

#include <QLabel>

namespace tidemark::gui {

QLabel* make_pane_note(QWidget* pane) {
    constexpr int note_margin = 24;  // pixels
    auto* note = new QLabel(pane);
    note->setObjectName(QStringLiteral("note"));
    note->setAlignment(Qt::AlignCenter);
    note->setWordWrap(true);
    note->setMargin(note_margin);
    note->setAttribute(Qt::WA_TransparentForMouseEvents);
    return note;
}

}  // namespace tidemark::gui
