// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/notes/notes_pane.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QShortcut>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/notes/note_dialog.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

NotesPane::NotesPane(QWidget* parent) : QWidget(parent), table_(new QTableWidget), hint_(new QLabel) {
    add_ = tool_button(tr("Add bookmark…"), tr("Add a bookmark at the cursor (Ctrl+D)"), [this] { add_bookmark(); });
    edit_ = tool_button(tr("Edit…"), tr("Edit the note (F2)"), [this] {
        if (const auto note = current()) {
            ask(*note);
        }
    });
    const auto remove = [this] {
        if (const auto note = current()) {
            notes_->remove(*note);
        }
    };
    delete_ = tool_button(tr("Delete"), tr("Delete the note (Del)"), remove);
    auto* bar = new Toolbar;
    for (QToolButton* button : {add_, edit_, delete_}) {
        button->setFocusPolicy(Qt::StrongFocus);
        bar->add(button);
    }
    auto* delete_key = new QShortcut(QKeySequence(Qt::Key_Delete), table_);
    delete_key->setContext(Qt::WidgetShortcut);
    connect(delete_key, &QShortcut::activated, this, remove);
    set_table_style(table_);
    table_->setAccessibleName(tr("Notes"));
    table_->setColumnCount(3);
    table_->setHorizontalHeaderLabels({tr("Place"), tr("Title"), tr("Text")});
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->horizontalHeader()->setStretchLastSection(true);
    table_->horizontalHeader()->resizeSection(0, 260);
    table_->horizontalHeader()->resizeSection(1, 300);
    connect(table_, &QTableWidget::itemActivated, this, [this](QTableWidgetItem* item) { go_to(item->row()); });
    connect(table_, &QTableWidget::itemClicked, this, [this](QTableWidgetItem* item) { go_to(item->row()); });
    connect(table_, &QTableWidget::currentItemChanged, this, [this] {
        edit_->setEnabled(current().has_value());
        delete_->setEnabled(current().has_value());
    });
    hint_->setWordWrap(true);
    hint_->setTextFormat(Qt::PlainText);
    hint_->setForegroundRole(QPalette::PlaceholderText);
    hint_->setMargin(6);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(bar);
    column->addWidget(table_, 1);
    column->addWidget(hint_);
    fill();
}

void NotesPane::set_notes(NotesSource* notes, Session* session) {
    if (notes_) {
        notes_->disconnect(this);
    }
    notes_ = notes;
    session_ = session;
    if (notes != nullptr) {
        connect(notes, &NotesSource::changed, this, &NotesPane::fill);
    }
    fill();
}

QString NotesPane::place_text_of(const Note& note) const {
    QString place;
    if (note.is_bookmark()) {
        place = notes_->place_of(note);
    } else {
        place = tr("finding: %1").arg(to_qstring(note.finding));
    }
    return session_ && session_->trace().devices.size() > 1 ? tr("device %1 · %2").arg(note.device).arg(place) : place;
}

void NotesPane::fill() {
    const bool shown = notes_ && session_;
    const std::vector<Note> notes = shown ? notes_->notes() : std::vector<Note>();
    const int row = table_->currentRow();
    table_->setRowCount(static_cast<int>(notes.size()));
    for (int i = 0; i < table_->rowCount(); ++i) {
        const Note& note = notes[static_cast<size_t>(i)];
        const QStringList texts{place_text_of(note), to_qstring(note.title),
                                lines_to_qstring(note.text).replace(u'\n', u' ')};
        for (int column = 0; column < texts.size(); ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setToolTip(tip_text(column == 2 ? lines_to_qstring(note.text) : texts[column]));
            table_->setItem(i, column, item);
        }
    }
    table_->setVisible(!notes.empty());
    if (row >= 0 && row < table_->rowCount()) {
        table_->setCurrentCell(row, 0);
    }
    add_->setEnabled(shown && notes_->can_change());
    edit_->setEnabled(current().has_value());
    delete_->setEnabled(current().has_value());
    const QString file =
        session_ ? QFileInfo(to_qstring(session_->trace().path)).fileName() + QStringLiteral(".notes.json") : QString();
    hint_->setText(!shown                         ? QString()
                   : !notes_->problem().isEmpty() ? notes_->problem()
                   : !notes_->can_change()        ? tr("Notes can be added when the recording has ended.")
                   : notes.empty()
                       ? tr("A bookmark is a point in time with a title and a text: place the cursor and press Ctrl+D. "
                            "Findings can have notes, too. Notes are kept in %1 beside the trace, never in the trace "
                            "itself.")
                             .arg(file)
                       : tr("Kept in %1 beside the trace.").arg(file));
    hint_->setAlignment(notes.empty() ? Qt::AlignTop | Qt::AlignLeft : Qt::AlignVCenter | Qt::AlignLeft);
    hint_->setSizePolicy(QSizePolicy::Preferred, notes.empty() ? QSizePolicy::Expanding : QSizePolicy::Maximum);
}

std::optional<Note> NotesPane::current() const {
    const int row = table_->currentRow();
    return notes_ && row >= 0 && row < static_cast<int>(notes_->notes().size())
               ? std::optional(notes_->notes()[static_cast<size_t>(row)])
               : std::nullopt;
}

void NotesPane::go_to(int row) {
    const Note note = notes_->notes()[static_cast<size_t>(row)];
    notes_->go_to(note);
    if (const int finding = notes_->finding_of(note); finding >= 0) {
        emit finding_requested(finding);
    }
}

void NotesPane::add_bookmark() {
    if (notes_ && notes_->can_change()) {
        ask(notes_->bookmark_at_cursor());
    }
}

void NotesPane::edit() {
    if (!notes_ || !notes_->can_change()) {
        return;
    }
    const Note* at_cursor = notes_->at_cursor();
    if (const auto row = current(); row && table_->hasFocus()) {
        ask(*row);
    } else if (at_cursor != nullptr) {
        ask(*at_cursor);
    } else if (const int finding = session_->explanation_source().selected(); finding >= 0) {
        edit_note_on(finding);
    } else {
        add_bookmark();
    }
}

void NotesPane::edit_note_on(int finding) {
    if (notes_ && notes_->can_change()) {
        ask(notes_->note_on(finding));
    }
}

void NotesPane::ask(const Note& note) {
    const QString place = note.is_bookmark() ? place_text_of(note) : to_qstring(note.title);
    auto* dialog = new NoteDialog(note, place, window());
    connect(dialog, &NoteDialog::saved, notes_.data(), [notes = notes_, note](const Note& changed) {
        const bool empty = changed.text.empty() && (!changed.is_bookmark() || changed.title.empty());
        if (empty && !note.id.empty()) {
            notes->remove(note);
        } else if (!empty) {
            notes->put(changed, note.id.empty() ? nullptr : &note);
        }
    });
    connect(dialog, &NoteDialog::deleted, notes_.data(), [notes = notes_, note] { notes->remove(note); });
    dialog->open();
}

}  // namespace tidemark::gui
