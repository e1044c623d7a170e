// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A flat button at the edge of a window, as high as its layout allows. Its text runs upwards; a mark is above it.
#pragma once

#include <QToolButton>

namespace tidemark::gui {

class UprightButton : public QToolButton {
    Q_OBJECT
public:
    /// `tip` is also the name for screen readers.
    UprightButton(const QString& text, const QString& tip, QWidget* parent = nullptr);

    /// Sets a character that shows the direction in which a click moves something.
    void set_mark(QChar mark);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QChar mark_;
};

}  // namespace tidemark::gui
