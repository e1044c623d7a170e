// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The columns of the allocation table.
#include <QAction>
#include <QDataStream>
#include <QHeaderView>
#include <QMenu>
#include <QTableView>
#include <algorithm>

#include "gui/table/allocation_filters.h"
#include "gui/table/allocation_table.h"

namespace tidemark::gui {

void AllocationTable::make_header() {
    QHeaderView* header = table_->horizontalHeader();
    header->setSectionsMovable(true);
    header->setStretchLastSection(true);
    header->setSortIndicator(static_cast<int>(sort_by_), Qt::DescendingOrder);
    header->setSortIndicatorShown(true);
    header->setSectionsClickable(true);
    const char* const widest[] = {"#before 000",
                                  "0x7f0000000000",
                                  "1023 MiB ",
                                  "1023 MiB ",
                                  "1023 KiB ",
                                  "000.000000 s",
                                  "000.000000 s",
                                  "000.00 ms ",
                                  "stream 0x7f00",
                                  "default pool 00",
                                  "model.py:1234 forward_attention_ → scaled",
                                  "model.py ",
                                  "aten::scaled_dot_product",
                                  "layers.11.attention",
                                  "backward ",
                                  "saved for backward ",
                                  "1,234,567 ",
                                  "1023 MiB "};
    for (int column = 0; column < table_column_count; ++column) {
        const int text = fontMetrics().horizontalAdvance(QString::fromLatin1(widest[column]));
        const int title =
            fontMetrics().horizontalAdvance(AllocationModel::title(static_cast<AllocationColumn>(column)));
        table_->setColumnWidth(column, std::max(text, title + 16) + 20);
    }
    // The allocation site and the category matter more than addresses and pools, which may need scrolling.
    int place = 0;
    for (const auto column :
         {AllocationColumn::line, AllocationColumn::count, AllocationColumn::block_size, AllocationColumn::largest,
          AllocationColumn::category, AllocationColumn::lifetime, AllocationColumn::id}) {
        header->moveSection(header->visualIndex(static_cast<int>(column)), place++);
    }
    connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int column, Qt::SortOrder order) {
        sort_by_ = static_cast<AllocationColumn>(column);
        descending_ = order == Qt::DescendingOrder;
        schedule(0);
    });
}

void AllocationTable::make_column_menu() {
    auto* columns = new QMenu(tr("Columns"), this);
    known_.set();
    wanted_.set();
    for (int i = 0; i < table_column_count; ++i) {
        const auto column = static_cast<AllocationColumn>(i);
        QAction* shown = columns->addAction(AllocationModel::title(column));
        shown->setCheckable(true);
        shown->setEnabled(column != AllocationColumn::line);  // at least one column stays
        connect(shown, &QAction::triggered, this, [this, column](bool on) { set_column_wanted(column, on); });
        column_actions_.push_back(shown);
    }
    table_->addAction(columns->menuAction());
    table_->horizontalHeader()->addActions(columns->actions());
    table_->horizontalHeader()->setContextMenuPolicy(Qt::ActionsContextMenu);
}

/// Imported snapshots have no operators, modules, phases and categories.
void AllocationTable::find_known_columns() {
    const auto& origins = session_->trace().origins;
    known_.set();
    for (const auto column : {AllocationColumn::count, AllocationColumn::largest}) {
        known_[static_cast<size_t>(column)] = model_->is_grouped();
    }
    for (const auto column : {AllocationColumn::op, AllocationColumn::module, AllocationColumn::phase}) {
        known_[static_cast<size_t>(column)] = std::any_of(
            origins.begin(), origins.end(), [&](const Origin& origin) { return !origin_text(origin, column).empty(); });
    }
    known_[static_cast<size_t>(AllocationColumn::category)] = session_->categories().known();
    filters_->set_knows_categories(session_->categories().known());
    model_->set_categories([session = session_] { return session ? session->categories() : CategoryLookup(); });
    show_columns();
}

void AllocationTable::show_columns() {
    for (size_t column = 0; column < wanted_.size(); ++column) {
        table_->setColumnHidden(static_cast<int>(column), !known_[column] || !wanted_[column]);
        column_actions_[column]->setVisible(known_[column]);
        column_actions_[column]->setChecked(wanted_[column]);
    }
}

void AllocationTable::set_column_wanted(AllocationColumn column, bool wanted) {
    wanted_[static_cast<size_t>(column)] = wanted;
    show_columns();
}

bool AllocationTable::shows_column(AllocationColumn column) const {
    return !table_->isColumnHidden(static_cast<int>(column));
}

QByteArray AllocationTable::save_state() const {
    QByteArray state;
    QDataStream out(&state, QIODevice::WriteOnly);
    out << quint32{table_column_count} << static_cast<quint32>(wanted_.to_ulong())
        << table_->horizontalHeader()->saveState();
    return state;
}

/// Ignores a state of another version, which has another number of columns.
void AllocationTable::restore_state(const QByteArray& state) {
    QDataStream in(state);
    quint32 count = 0, wanted = 0;
    QByteArray header;
    in >> count >> wanted >> header;
    if (in.status() == QDataStream::Ok && count == table_column_count && wanted >> table_column_count == 0 &&
        table_->horizontalHeader()->restoreState(header)) {
        wanted_ = wanted;
        wanted_.set(static_cast<size_t>(AllocationColumn::line));
        show_columns();
    }
}

}  // namespace tidemark::gui
