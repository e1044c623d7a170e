// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that shows which calls lead to the memory: an icicle or a treemap of stacks or modules, for the
// cursor, a finding or a range.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/tree/tree_view.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace tidemark::gui {

/// Thread: GUI. A worker makes the trees. While the pane is hidden nothing is computed.
class TreePane : public QWidget {
    Q_OBJECT
public:
    explicit TreePane(QWidget* parent = nullptr);

    void set_session(Session* session);
    TreeView& view() { return *view_; }
    void set_memory(TreeMemory memory);
    void set_options(const CallTreeOptions& options);
    void set_shape(TreeShape shape);
    void search(const QString& text);
    /// Returns the words beside the search field.
    QString search_result() const;
    /// Returns whether the memory can be shown: a finding with memory, or a range, is selected.
    bool has_memory(TreeMemory memory) const;
    bool busy() const { return task_.busy() || delay_.isActive(); }

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* make_toolbar();
    void follow_selection();
    void schedule();
    void request();
    void take(std::shared_ptr<const ShownTree> shown);
    TreeMemory memory() const;
    TreePath path() const;
    TreeRequest current_request() const;
    void show_time(const TreeRequest& request);
    void show_note();
    void show_search_result();

    QPointer<Session> session_;
    bool empty_trace_ = false;
    bool stale_ = false;
    LatestOnly<ShownTree> task_;
    QTimer delay_;
    QComboBox* memory_;
    QComboBox* path_;
    QComboBox* shape_;
    QCheckBox* own_code_;
    QLineEdit* search_;
    QLabel* found_;
    QToolButton* whole_;
    QLabel* time_;
    TreeView* view_;
};

}  // namespace tidemark::gui
