// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Colors of the SQL in an editor: keywords, names of the trace, texts, numbers and comments.
#pragma once

#include <QSyntaxHighlighter>

namespace tidemark::gui {

/// Thread: GUI. Call rehighlight() when the theme has changed.
class SqlHighlighter : public QSyntaxHighlighter {
    Q_OBJECT
public:
    explicit SqlHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) {}

protected:
    void highlightBlock(const QString& line) override;
};

}  // namespace tidemark::gui
