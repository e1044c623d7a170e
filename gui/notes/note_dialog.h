// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The title and text of one note.
#pragma once

#include <QDialog>

#include "storage/notes/notes.h"

class QLineEdit;
class QPlainTextEdit;

namespace tidemark::gui {

class NoteDialog : public QDialog {
    Q_OBJECT
public:
    /// `place`: what the note is about, in words. A note with an id can also be deleted.
    NoteDialog(const Note& note, const QString& place, QWidget* parent);

signals:
    void saved(const tidemark::Note& note);
    void deleted();

private:
    void save();

    Note note_;
    QLineEdit* title_;
    QPlainTextEdit* text_;
};

}  // namespace tidemark::gui
