// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/source/code_colors.h"

#include <QSet>

#include "gui/model/palette.h"

namespace tidemark::gui {

namespace {

bool is_keyword(const QString& word) {
    static const QSet<QString> words{
        QStringLiteral("False"),   QStringLiteral("None"),     QStringLiteral("True"),     QStringLiteral("and"),
        QStringLiteral("as"),      QStringLiteral("assert"),   QStringLiteral("async"),    QStringLiteral("await"),
        QStringLiteral("break"),   QStringLiteral("class"),    QStringLiteral("continue"), QStringLiteral("def"),
        QStringLiteral("del"),     QStringLiteral("elif"),     QStringLiteral("else"),     QStringLiteral("except"),
        QStringLiteral("finally"), QStringLiteral("for"),      QStringLiteral("from"),     QStringLiteral("global"),
        QStringLiteral("if"),      QStringLiteral("import"),   QStringLiteral("in"),       QStringLiteral("is"),
        QStringLiteral("lambda"),  QStringLiteral("nonlocal"), QStringLiteral("not"),      QStringLiteral("or"),
        QStringLiteral("pass"),    QStringLiteral("raise"),    QStringLiteral("return"),   QStringLiteral("try"),
        QStringLiteral("while"),   QStringLiteral("with"),     QStringLiteral("yield")};
    return words.contains(word);
}

bool is_word_part(QChar c) { return c.isLetterOrNumber() || c == u'_'; }

int end_of_word(const QString& line, int begin) {
    int end = begin;
    while (end < line.size() && is_word_part(line[end])) {
        ++end;
    }
    return end;
}

/// Returns the quotes that begin a string at a place; empty if none begins.
QString quote_at(const QString& line, int place) {
    const QChar c = line[place];
    if (c != u'"' && c != u'\'') {
        return {};
    }
    const QString three(3, c);
    return QStringView(line).mid(place, 3) == three ? three : QString(c);
}

}  // namespace

/// Returns the end of a string whose content begins at `begin`.
int PythonReader::read_string(const QString& line, int begin, const QString& quote) {
    for (int i = begin; i < line.size(); ++i) {
        if (line[i] == u'\\') {
            ++i;
        } else if (QStringView(line).mid(i, quote.size()) == quote) {
            quote_.clear();
            return i + static_cast<int>(quote.size());
        }
    }
    quote_ = quote.size() == 3 ? quote : QString();
    return static_cast<int>(line.size());
}

std::vector<CodeSpan> PythonReader::read(const QString& line) {
    std::vector<CodeSpan> spans;
    int place = 0;
    if (!quote_.isEmpty()) {
        const QString open = quote_;  // reading changes it
        place = read_string(line, 0, open);
        spans.push_back({CodePart::text, 0, place});
    }
    while (place < line.size()) {
        const int begin = place;
        if (line[place] == u'#') {
            spans.push_back({CodePart::comment, begin, static_cast<int>(line.size()) - begin});
            break;
        }
        if (const QString quote = quote_at(line, place); !quote.isEmpty()) {
            place = read_string(line, place + static_cast<int>(quote.size()), quote);
            spans.push_back({CodePart::text, begin, place - begin});
        } else if (is_word_part(line[place])) {
            place = end_of_word(line, place);
            if (line[begin].isDigit()) {
                spans.push_back({CodePart::number, begin, place - begin});
            } else if (is_keyword(line.mid(begin, place - begin))) {
                spans.push_back({CodePart::keyword, begin, place - begin});
            }
        } else {
            ++place;
        }
    }
    return spans;
}

QColor code_color(const Theme& theme, CodePart part) {
    switch (part) {
        case CodePart::keyword: return theme.dark ? QColor(0xc8, 0xa2, 0xf0) : QColor(0x7a, 0x1f, 0xa2);
        case CodePart::text: return theme.dark ? QColor(0x9c, 0xd3, 0x8a) : QColor(0x1b, 0x6b, 0x2a);
        case CodePart::comment: return theme.faint_text;
        case CodePart::number: return theme.dark ? QColor(0xf0, 0xb7, 0x7a) : QColor(0x9a, 0x4b, 0x00);
    }
    return theme.text;
}

}  // namespace tidemark::gui
