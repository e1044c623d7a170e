// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The tooltip of plots: rich, follows the pointer inside the window, and can be pinned.
#pragma once

#include <QLabel>

namespace tidemark::gui {

class HoverTip : public QLabel {
    Q_OBJECT
public:
    /// Becomes a child of the window of `owner`, which closes it and includes it in pictures.
    explicit HoverTip(QWidget* owner);
    /// Shows `html` beside a point of `owner` inside its window.
    void show_at(const QWidget* owner, QPoint point, const QString& html);
    /// Shows a copy that stays until a right click.
    void pin();
    /// Closes all tips that a window shows. Returns whether a pinned one was among them.
    static bool close_all(const QWidget& window);

protected:
    void mousePressEvent(QMouseEvent* event) override;

private:
    bool pinned_ = false;
};

/// Returns a small colored square for rich text.
QString swatch(const QColor& color);

}  // namespace tidemark::gui
