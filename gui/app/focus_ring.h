// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The ring around the widget with the focus, the same on every control, plot and table.
#pragma once

#include <QObject>
#include <QPointer>

class QFocusFrame;

namespace tidemark::gui {

/// Shows the ring when the focus moves by keyboard; a mouse press hides it. Thread: GUI.
class FocusRing : public QObject {
    Q_OBJECT
public:
    /// Watches all widgets of the program.
    FocusRing();
    ~FocusRing() override;

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void show_around(QWidget* widget);
    void hide();

    QPointer<QFocusFrame> frame_;  ///< a child of the window with the focus, which may delete it
};

}  // namespace tidemark::gui
