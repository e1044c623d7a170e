// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane from the bytes a program requests up to nvidia-smi's figure: over time, and at the cursor.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/breakdown/breakdown_model.h"
#include "gui/model/latest_only.h"
#include "gui/model/session.h"

class QLabel;
class QTableView;

namespace tidemark::gui {

class BreakdownPlot;

class BreakdownPane : public QWidget {
    Q_OBJECT
public:
    explicit BreakdownPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    void export_csv(const QString& path);
    /// Computes and paints everything before it returns.
    void render_to(QPaintDevice& device, QSize size);

    BreakdownModel& model() { return *model_; }
    BreakdownPlot& plot() { return *plot_; }
    QString gaps_text() const;
    bool busy() const { return task_.busy() || delay_.isActive(); }
    /// Selects the first component of this kind as soon as the table is that of the cursor.
    void select_component(ComponentKind kind);

signals:
    /// `error` is empty if the file is written.
    void export_finished(const QString& path, const QString& error);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Answer {
        BreakdownRow row;
        std::vector<BreakdownGap> gaps;
    };
    static std::shared_ptr<const Answer> answer(const LazyBreakdown& breakdown, const TimePoint& time_point);
    QWidget* make_table();
    void schedule();
    void request();
    void take(const std::shared_ptr<const Answer>& answer);
    void show_sentences();
    void show_selected_component();
    void update_colors();

    QPointer<Session> session_;
    bool stale_ = false;
    std::optional<ComponentKind> selected_component_;  ///< until it is shown
    BreakdownModel* model_;
    LatestOnly<Answer> task_;
    QTimer delay_;
    std::vector<BreakdownGap> gaps_;
    BreakdownPlot* plot_;
    QLabel* sentence_;
    QTableView* table_;
    QLabel* notes_;
};

}  // namespace tidemark::gui
