// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that answers why memory is alive: the roots, the drawing of the graph, and the retention path.
#pragma once

#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/graph/graph_search.h"
#include "gui/graph/graph_view.h"
#include "gui/widgets/report.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTextBrowser;

namespace tidemark::gui {

class RootList;

class GraphPane : public QWidget {
    Q_OBJECT
public:
    explicit GraphPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    void set_colors(GraphColors by);
    GraphColors colors() const;
    void set_region(const GraphRegion& region);
    const GraphRegion& region() const { return region_; }
    void open_group(uint64_t key);
    void close_group(uint64_t key);
    void focus_search();
    /// Moves the cursor to the peak of the graph, which is found in the background.
    void go_to_peak();
    /// Scrolls to the selected node or allocation as soon as the drawing is that of the cursor. Opens the groups around
    /// it.
    void reveal_selection();

    GraphView& view() { return *view_; }
    RootList& roots() { return *roots_; }
    QString reason_text() const { return reason_.plain(); }
    QString note_text() const;  ///< the note in place of a drawing; empty while there is one
    bool busy() const;
    void render_to(QPaintDevice& device, QSize size);
    QByteArray save_state() const;
    void restore_state(const QByteArray& state);

signals:
    void link_activated(const QString& link);  ///< a link that the pane does not follow itself
    void colors_changed();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// What a worker computes for one request; unchanged parts are shared with the answer before.
    struct Request;
    struct Answer {
        std::shared_ptr<const GraphPicture> picture;
        std::shared_ptr<const std::vector<RootGroup>> roots;
        std::vector<uint64_t> opened;
        bool keep_place = false;
        int64_t milliseconds = 0;
    };
    static std::shared_ptr<const Answer> answer(const Request& request, Progress& progress);
    Request make_request() const;

    QWidget* make_toolbar();
    QWidget* make_note();
    void follow_graph();
    void schedule();
    void request();
    void take(const std::shared_ptr<const Answer>& answer);
    void show_note();
    void show_figures();
    void show_reason();
    void search();
    void select_region(int choice);
    void follow(const QString& link);
    void select_node(NodeIndex node);
    void reveal_node(NodeIndex node);
    void follow_selection();
    bool open_around(std::vector<NodeIndex> nodes);
    void reveal_now();

    QPointer<Session> session_;
    GraphRegion region_;
    std::optional<std::vector<uint64_t>> opened_;  ///< nothing: the outline's opened_at_first()
    std::vector<NodeIndex> opened_for_;            ///< the groups around them are open as well, to show them
    std::shared_ptr<const Answer> shown_;
    bool stale_ = false, reset_place_ = true, reveals_ = false;
    bool follows_ = false;          ///< the selection may have changed while the pane was hidden
    bool divided_by_user_ = false;  ///< otherwise the drawing gets most of the width
    LatestOnly<Answer> task_;
    LatestOnly<std::vector<NodeIndex>> search_task_;
    LatestOnly<std::optional<int64_t>> peak_task_;
    QTimer delay_, poll_;
    Report reason_;

    GraphView* view_;
    RootList* roots_;
    QComboBox* show_;
    QComboBox* color_by_;
    QComboBox* order_;
    QLineEdit* search_;
    QLabel* found_;
    QLabel* figures_;
    QTextBrowser* why_;
    QSplitter* split_;
    QStackedWidget* pages_;
    QLabel* note_;
    QProgressBar* progress_;
    QPushButton* peak_button_;
};

}  // namespace tidemark::gui
