// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The filters and the grouping above the allocation table.
#pragma once

#include "gui/table/allocation_query.h"
#include "gui/table/filter_chips.h"
#include "gui/widgets/toolbar.h"

class QAction;
class QActionGroup;
class QComboBox;
class QMenu;
class QToolButton;

namespace tidemark::gui {

class Session;

/// Thread: GUI.
class AllocationFilters : public Toolbar {
    Q_OBJECT
public:
    explicit AllocationFilters(QWidget* parent = nullptr);

    /// Offers the pools and categories of the trace; null: none. Forgets those that were selected.
    void set_session(const Session* session);
    /// Offers the categories only if some are recorded.
    void set_knows_categories(bool known);
    /// Returns the filters as a query in the default order; an invalid field filters nothing and gets another color.
    /// Requires a session with a device.
    AllocationQuery query(const Session& session);
    /// Returns the filters that are on, in the order of their controls. Requires a session with a device.
    std::vector<FilterChip> chips(const Session& session);
    /// Returns whether the query depends on the cursor.
    bool follows_cursor() const;
    /// Returns whether the query depends on the selection.
    bool follows_selection() const;
    bool follows_memory() const;  ///< on the selected memory or stack
    TableGrouping grouping() const;
    void set_grouping(TableGrouping grouping);
    /// Turns on the filter that follows the selection.
    void show_selection_only();
    /// Moves the keyboard focus to the text filter.
    void focus_text();

signals:
    /// A filter changed; `typing`: by a key in a field, so more changes may follow at once.
    void changed(bool typing);

private:
    QLineEdit* add_field(const QString& hint, const QString& tip, int width);
    QAction* add_check(const QString& text, const QString& tip);
    QActionGroup* add_choices(const QString& title, const QString& name);
    void add_choice(QActionGroup* group, const QString& text, uint32_t value);
    void add_bounds_chip(std::vector<FilterChip>& chips, QLineEdit* from, QLineEdit* to, const QString& from_to,
                         const QString& from_only, const QString& to_only);

    QComboBox* group_by_;
    QLineEdit *text_, *min_, *max_, *min_lifetime_, *max_lifetime_, *address_;
    QMenu* menu_;
    QAction *alive_, *only_selection_, *in_range_, *never_freed_;
    QActionGroup *pool_, *category_;
};

}  // namespace tidemark::gui
