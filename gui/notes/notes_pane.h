// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that lists bookmarks and notes on findings: jump to one, add, edit, delete.
#pragma once

#include <QPointer>
#include <QWidget>
#include <optional>

#include "gui/model/notes_source.h"

class QLabel;
class QTableWidget;
class QToolButton;

namespace tidemark::gui {

class NotesPane : public QWidget {
    Q_OBJECT
public:
    explicit NotesPane(QWidget* parent = nullptr);
    /// `notes` must outlive the pane's last use of them; null: none.
    void set_notes(NotesSource* notes, Session* session);

    /// Asks for the title and text of a new bookmark at the cursor.
    void add_bookmark();
    /// Edits the note of the current row if the list has the focus; otherwise the bookmark at the cursor, or the note
    /// on the selected finding.
    void edit();
    void edit_note_on(int finding);
    QTableWidget& table() const { return *table_; }

signals:
    void finding_requested(int finding);

private:
    void fill();
    void ask(const Note& note);
    void go_to(int row);
    QString place_text_of(const Note& note) const;
    std::optional<Note> current() const;

    QPointer<NotesSource> notes_;
    QPointer<Session> session_;
    QTableWidget* table_;
    QLabel* hint_;
    QToolButton *add_, *edit_, *delete_;
};

}  // namespace tidemark::gui
