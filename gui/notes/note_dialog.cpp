// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/notes/note_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>

#include "gui/model/text.h"

namespace tidemark::gui {

NoteDialog::NoteDialog(const Note& note, const QString& place, QWidget* parent)
    : QDialog(parent), note_(note), title_(new QLineEdit(this)), text_(new QPlainTextEdit) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(note.is_bookmark() ? tr("Bookmark") : tr("Note on a finding"));
    auto* about = new QLabel(place);
    about->setTextFormat(Qt::PlainText);
    about->setWordWrap(true);
    title_->setText(to_qstring(note.title));
    title_->setReadOnly(!note.is_bookmark());
    title_->setVisible(note.is_bookmark());
    text_->setPlainText(lines_to_qstring(note.text));
    text_->setTabChangesFocus(true);
    auto* form = new QFormLayout;
    if (note.is_bookmark()) {
        form->addRow(tr("&Title"), title_);
    }
    form->addRow(tr("T&ext"), text_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Save)->setText(tr("Save"));
    buttons->button(QDialogButtonBox::Save)->setToolTip(tr("Ctrl+Enter"));
    buttons->button(QDialogButtonBox::Cancel)->setText(tr("Cancel"));
    if (!note.id.empty()) {
        auto* remove = buttons->addButton(tr("Delete"), QDialogButtonBox::DestructiveRole);
        connect(remove, &QPushButton::clicked, this, [this] {
            emit deleted();
            close();
        });
    }
    connect(buttons, &QDialogButtonBox::accepted, this, &NoteDialog::save);
    connect(buttons, &QDialogButtonBox::rejected, this, &NoteDialog::reject);
    connect(new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this), &QShortcut::activated, this,
            &NoteDialog::save);
    auto* column = new QVBoxLayout(this);
    column->addWidget(about);
    column->addLayout(form);
    column->addWidget(buttons);
    resize(520, 280);
    note.is_bookmark() ? title_->setFocus() : text_->setFocus();
}

void NoteDialog::save() {
    if (note_.is_bookmark()) {
        note_.title = title_->text().trimmed().toStdString();
    }
    note_.text = text_->toPlainText().trimmed().toStdString();
    emit saved(note_);
    accept();
}

}  // namespace tidemark::gui
