// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/sql/sql_editor.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStringListModel>

#include "gui/model/palette.h"
#include "gui/sql/sql_highlighter.h"
#include "storage/query/query_names.h"

namespace tidemark::gui {

namespace {

constexpr qsizetype least_typed = 2;  // characters before names are offered

QStringList columns_in(const QueryTable& table) {
    QStringList names;
    for (const std::string& column : table.columns) {
        names << QString::fromStdString(column);
    }
    return names;
}

/// Returns the names of all views, tables and columns, each once.
QStringList all_names() {
    QStringList names;
    for (const QueryTable& table : query_tables()) {
        names << QString::fromStdString(table.name);
        names += columns_in(table);
    }
    names.removeDuplicates();
    names.sort(Qt::CaseInsensitive);
    return names;
}

}  // namespace

SqlEditor::SqlEditor(QWidget* parent) : QPlainTextEdit(parent), completer_(new QCompleter(this)) {
    setAccessibleName(tr("SQL query"));
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setTabChangesFocus(true);
    setLineWrapMode(QPlainTextEdit::WidgetWidth);
    highlighter_ = new SqlHighlighter(document());
    completer_->setModel(new QStringListModel(completer_));
    completer_->setWidget(this);
    completer_->setCaseSensitivity(Qt::CaseInsensitive);
    completer_->popup()->setAccessibleName(tr("Names that complete the word"));
    connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, [this](const QString& name) {
        QTextCursor cursor = textCursor();
        cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(word_before_cursor().size()));
        cursor.insertText(name);
        setTextCursor(cursor);
    });
    connect(this, &QPlainTextEdit::textChanged, this, [this] { setExtraSelections({}); });
}

void SqlEditor::replace_text(const QString& sql) {
    QTextCursor cursor(document());
    cursor.select(QTextCursor::Document);
    cursor.insertText(sql);
    moveCursor(QTextCursor::Start);
}

void SqlEditor::insert_name(const QString& name) {
    QTextCursor cursor = textCursor();
    cursor.insertText(word_before_cursor().isEmpty() || cursor.hasSelection() ? name : QLatin1Char(' ') + name);
    setTextCursor(cursor);
    setFocus();
}

void SqlEditor::mark_error(std::optional<size_t> byte) {
    setExtraSelections({});
    if (!byte) {
        return;
    }
    const QByteArray before = toPlainText().toUtf8().left(static_cast<qsizetype>(*byte));
    QTextCursor cursor(document());
    cursor.setPosition(static_cast<int>(QString::fromUtf8(before).size()));
    QTextCursor word = cursor;
    if (!word.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor)) {
        word.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor);
    }
    QTextEdit::ExtraSelection wrong;
    wrong.cursor = word;
    wrong.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    wrong.format.setUnderlineColor(Theme::current().oom);
    setTextCursor(cursor);
    setExtraSelections({wrong});
}

QString SqlEditor::word_before_cursor() const {
    static const QRegularExpression word(QStringLiteral("[A-Za-z_][A-Za-z0-9_]*$"));
    const QTextCursor cursor = textCursor();
    return word.match(cursor.block().text().left(cursor.positionInBlock())).captured();
}

QStringList SqlEditor::completions() const {
    static const QRegularExpression owner(QStringLiteral("([A-Za-z_][A-Za-z0-9_]*)\\.[A-Za-z0-9_]*$"));
    static const QStringList all = all_names();
    const QTextCursor cursor = textCursor();
    const QString table = owner.match(cursor.block().text().left(cursor.positionInBlock())).captured(1);
    const QueryTable* found = table.isEmpty() ? nullptr : find_query_table(table.toStdString());
    return (found != nullptr ? columns_in(*found) : all)
        .filter(QRegularExpression(QLatin1Char('^') + word_before_cursor(), QRegularExpression::CaseInsensitiveOption));
}

void SqlEditor::complete() {
    const QStringList names = completions();
    const QString word = word_before_cursor();
    if (names.isEmpty() || (names.size() == 1 && names.front() == word)) {
        completer_->popup()->hide();
        return;
    }
    static_cast<QStringListModel*>(completer_->model())->setStringList(names);
    completer_->setCompletionPrefix(word);
    QRect place = cursorRect();
    place.setWidth(completer_->popup()->sizeHintForColumn(0) +
                   completer_->popup()->verticalScrollBar()->sizeHint().width() + 8);
    completer_->complete(place);
    completer_->popup()->setCurrentIndex(completer_->completionModel()->index(0, 0));
}

void SqlEditor::keyPressEvent(QKeyEvent* event) {
    const bool is_open = completer_->popup()->isVisible();
    if (is_open) {
        switch (event->key()) {
            case Qt::Key_Enter:
            case Qt::Key_Return:
            case Qt::Key_Escape:
            case Qt::Key_Tab:
            case Qt::Key_Backtab: event->ignore(); return;  // the list of names takes them
            default: break;
        }
    }
    const bool is_request = event->key() == Qt::Key_Space && event->modifiers() == Qt::ControlModifier;
    if (!is_request) {
        QPlainTextEdit::keyPressEvent(event);
    }
    const bool types_name = !event->text().isEmpty() &&
                            (event->text().front().isLetterOrNumber() || event->text().front() == QLatin1Char('_'));
    if (is_request ||
        (types_name && word_before_cursor().size() >= least_typed && event->modifiers() <= Qt::ShiftModifier)) {
        complete();
    } else if (is_open && !event->text().isEmpty()) {
        completer_->popup()->hide();
    }
}

void SqlEditor::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        highlighter_->rehighlight();
    }
}

}  // namespace tidemark::gui
