// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The controls at the top of a pane. They wrap into further rows, so that a pane may be narrow.
#pragma once

#include <QWidget>
#include <functional>

class QLineEdit;
class QToolButton;

namespace tidemark::gui {

/// Returns a flat button whose tip is also its name for screen readers; a click calls `on_click`. The caller's layout
/// takes ownership.
QToolButton* tool_button(const QString& text, const QString& tip, std::function<void()> on_click);
/// Returns a field with a clear button, which Esc empties. The caller's layout takes ownership.
QLineEdit* input_field(const QString& hint, const QString& accessible_name);

class WrappingLayout;

/// Thread: GUI. Owns its controls.
class Toolbar : public QWidget {
    Q_OBJECT
public:
    explicit Toolbar(QWidget* parent = nullptr);

    void add(QWidget* control);
    /// Adds a control at the right end of its row.
    void add_right(QWidget* control);
    /// Adds buttons that zoom out, zoom in and show everything. `zoom` takes a factor; above 1 it zooms in.
    void add_zoom(std::function<void(double factor)> zoom, std::function<void()> fit);

private:
    WrappingLayout* controls_;
};

}  // namespace tidemark::gui
