// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A text whose height follows its length: it breaks at any character and is never elided. Its links work with mouse and
// keyboard; the wheel scrolls the widget around it.
#pragma once

#include <QTextBrowser>
#include <map>

namespace tidemark::gui {

/// Returns a finding's text as rich text: escaped, with `text between backticks` as code.
QString rich_text(const QString& text);

class TextBlock : public QTextBrowser {
    Q_OBJECT
public:
    /// `name` is its name for screen readers.
    explicit TextBlock(const QString& name, QWidget* parent = nullptr);
    /// The Tab key reaches a text with links. `html` contains theme colors, so a new theme needs new `html`.
    void show_html(const QString& html);
    /// Returns the text as it is copied.
    QString text() const;
    /// Passes clicks to the widget around it.
    void pass_clicks();

    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    QMimeData* createMimeDataFromSelection() const override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    mutable std::map<int, int> heights_;  ///< by width: a layout asks for the same few widths many times
};

}  // namespace tidemark::gui
