// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with all details of the selection: an allocation, a segment, a stack, a node, or else the time.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/inspector/describe.h"
#include "gui/model/cursor_state.h"

class QTextBrowser;
class QToolButton;
class QUrl;

namespace tidemark::gui {

class InspectorPane : public QWidget {
    Q_OBJECT
public:
    explicit InspectorPane(QWidget* parent = nullptr);

    void set_session(Session* session);

    QString plain_text() const { return report_.plain(); }  ///< the text of "Copy"
    QString plain_stack() const;                            ///< the text of "Copy stack"; empty without a stack
    QString shown_text() const;
    void copy_details() const;
    void copy_stack() const;
    /// Opens the user's line with the desktop's program for source files; copies "file:line" in any case.
    void open_in_editor();
    /// Follows a link (see gui/model/links.h and DescribeOptions).
    void follow(const QString& link);
    /// Updates the text now instead of at the next frame.
    void refresh_now();

signals:
    void close_requested();
    void message(const QString& text);  ///< for the status bar

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void schedule();
    Report describe();
    StackId selected_stack() const;
    void open_file(const QString& path, int line);

    QPointer<Session> session_;
    bool empty_trace_ = false;
    CursorState state_{this};
    SourceLines sources_;
    DescribeOptions options_;
    Report report_;
    QString html_;
    AllocationIndex owners_of_ = no_allocation;
    int owners_device_ = -1;
    std::vector<AllocationIndex> owners_;
    QTimer timer_;
    QTextBrowser* text_;
    QToolButton* copy_details_;
    QToolButton* copy_stack_;
    QToolButton* open_;
};

}  // namespace tidemark::gui
