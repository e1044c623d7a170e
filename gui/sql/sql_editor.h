// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The editor of a query: colors, completion of the names of views, tables and columns, and the place of an error.
#pragma once

#include <QPlainTextEdit>
#include <optional>

class QCompleter;

namespace tidemark::gui {

class SqlHighlighter;

/// Ctrl+Space completes a name; the Tab key leaves the editor. Thread: GUI.
class SqlEditor : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit SqlEditor(QWidget* parent = nullptr);

    /// Replaces the text; the user can undo it.
    void replace_text(const QString& sql);
    /// Inserts a name at the cursor, with a space before it if a word is there.
    void insert_name(const QString& name);
    /// Underlines the word at a byte of the UTF-8 text and moves the cursor there. Nothing: no error.
    void mark_error(std::optional<size_t> byte);
    /// Returns the names that complete the word before the cursor; after "view." the columns of this view.
    QStringList completions() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void complete();
    QString word_before_cursor() const;

    SqlHighlighter* highlighter_;
    QCompleter* completer_;
};

}  // namespace tidemark::gui
