// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The list of the graph's roots at the cursor: name, referrer and reachable bytes of each.
#pragma once

#include <QAbstractListModel>
#include <QListView>

#include "gui/graph/graph_search.h"

namespace tidemark::gui {

enum class RootOrder : uint8_t { bytes, number, age, name };

class RootListModel : public QAbstractListModel {
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;

    void show(std::vector<RootGroup> groups);
    void set_order(RootOrder order);
    void set_query(const GraphQuery& query);
    const RootGroup& group(int row) const { return groups_[shown_[static_cast<size_t>(row)]]; }
    int64_t most_bytes() const { return most_bytes_; }
    bool any_referrer() const { return any_referrer_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    void arrange();

    std::vector<RootGroup> groups_;
    std::vector<size_t> shown_;
    RootOrder order_ = RootOrder::bytes;
    GraphQuery query_;
    int64_t most_bytes_ = 0;
    bool any_referrer_ = false;
};

/// Shows in each row: name and bytes; line and step; the referrer, if known.
class RootList : public QListView {
    Q_OBJECT
public:
    explicit RootList(QWidget* parent = nullptr);
    RootListModel& roots() { return *model_; }
    void set_trace(std::shared_ptr<const Trace> trace) { trace_ = std::move(trace); }

signals:
    void selected(tidemark::NodeIndex root);  ///< a click, or arrows: the group's largest root
    void opened(tidemark::NodeIndex root);    ///< double click, Enter

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    class Delegate;
    RootListModel* model_;
    std::shared_ptr<const Trace> trace_;
};

}  // namespace tidemark::gui
