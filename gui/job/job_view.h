// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A job: its explanation, the heat map of its processes, and the curves of the selected ones.
#pragma once

#include <QWidget>

#include "gui/job/heat_map.h"
#include "gui/job/rank_curves.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSplitter;
class QTextBrowser;

namespace tidemark::gui {

class JobView : public QWidget {
    Q_OBJECT
public:
    explicit JobView(QWidget* parent = nullptr);
    /// Replaces the job; keeps the selection. Without a selection, selects the processes of the first finding and one
    /// to compare them with; without a finding, the first four.
    void show_job(std::shared_ptr<const ExplainedJob> explained);

    HeatMap& map() { return *map_; }
    QTextBrowser& story() { return *story_; }
    RankCurves& curves() { return *curves_; }

signals:
    void open_requested(const QString& trace);

private:
    QWidget* make_controls();
    void update_rows();
    void share_height();
    void write_story();
    void show_first();
    void select_first_finding();
    void follow(const QString& link);
    void open_selected();
    void open(size_t position);

    std::shared_ptr<const ExplainedJob> explained_;
    QLabel* summary_;
    QTextBrowser* story_;
    QComboBox* value_;
    QComboBox* order_;
    QCheckBox* busy_;
    QCheckBox* apart_;
    QSplitter* plots_;
    HeatMap* map_;
    RankCurves* curves_;
};

}  // namespace tidemark::gui
