// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/text_block.h"

#include <QKeyEvent>
#include <QMimeData>
#include <QRegularExpression>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <cmath>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {
constexpr int usual_block_width = 300;  // pixels
constexpr size_t most_heights = 16;
}  // namespace

namespace {

constexpr QChar no_break = u'\u2060';

/// Keeps the number of a line of code with its file.
QString with_whole_lines(const QString& html) {
    static const QRegularExpression line(QStringLiteral("(\\.py:)(?=\\d)"));
    return QString(html).replace(line, QStringLiteral("\\1") + no_break);
}

}  // namespace

QString rich_text(const QString& text) {
    const QStringList parts = text.toHtmlEscaped().split(u'`');
    QString html = parts.front();
    for (qsizetype i = 1; i < parts.size(); ++i) {
        const bool code = i % 2 == 1 && i + 1 < parts.size();
        html += code ? QStringLiteral("<code>%1</code>").arg(parts[i]) : i % 2 == 1 ? u'`' + parts[i] : parts[i];
    }
    return html.replace(u'\n', QStringLiteral("<br>"));
}

TextBlock::TextBlock(const QString& name, QWidget* parent) : QTextBrowser(parent) {
    setAccessibleName(name);
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    document()->setDocumentMargin(0);
    viewport()->setAutoFillBackground(false);
    setFocusPolicy(Qt::ClickFocus);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void TextBlock::show_html(const QString& html) {
    setHtml(with_whole_lines(with_whole_units(html)));
    setFocusPolicy(html.contains(QStringLiteral("<a ")) ? Qt::StrongFocus : Qt::ClickFocus);
    heights_.clear();
    updateGeometry();
}

void TextBlock::pass_clicks() {
    setTextInteractionFlags(Qt::NoTextInteraction);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
}

int TextBlock::heightForWidth(int width) const {
    const auto known = heights_.find(width);
    if (known != heights_.end()) {
        return known->second;
    }
    if (heights_.size() == most_heights) {
        heights_.clear();  // the user drags an edge
    }
    const std::unique_ptr<QTextDocument> measure(document()->clone());
    measure->setTextWidth(width);
    return heights_[width] = static_cast<int>(std::ceil(measure->size().height()));
}

QSize TextBlock::sizeHint() const { return {usual_block_width, heightForWidth(usual_block_width)}; }

QSize TextBlock::minimumSizeHint() const { return {40, fontMetrics().height()}; }

void TextBlock::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) {
        heights_.clear();
    }
    QTextBrowser::changeEvent(event);
}

/// What is copied is for editors, which take such characters for a part of the name.
QMimeData* TextBlock::createMimeDataFromSelection() const {
    auto* data = new QMimeData;
    data->setText(textCursor().selection().toPlainText().remove(no_break));
    return data;
}

QString TextBlock::text() const { return toPlainText().remove(no_break); }

void TextBlock::wheelEvent(QWheelEvent* event) { event->ignore(); }

void TextBlock::keyPressEvent(QKeyEvent* event) {
    const bool follows_link = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (follows_link || event->matches(QKeySequence::Copy) || event->matches(QKeySequence::SelectAll)) {
        QTextBrowser::keyPressEvent(event);
    } else {
        event->ignore();
    }
}

}  // namespace tidemark::gui
