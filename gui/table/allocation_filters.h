// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The filters above the allocation table.
#pragma once

#include "gui/table/allocation_query.h"
#include "gui/widgets/toolbar.h"

class QCheckBox;

namespace tidemark::gui {

class Session;

/// Thread: GUI.
class AllocationFilters : public Toolbar {
    Q_OBJECT
public:
    explicit AllocationFilters(QWidget* parent = nullptr);

    /// Returns the filters as a query in the default order; an invalid field filters nothing and gets another color.
    /// Requires a session with a device.
    AllocationQuery query(const Session& session);
    /// Returns whether the query depends on the cursor.
    bool follows_cursor() const;
    /// Returns whether the query depends on the selection.
    bool follows_selection() const;
    /// Turns on the filter that follows the selection.
    void show_selection_only();
    /// Moves the keyboard focus to the text filter.
    void focus_text();

signals:
    /// A filter changed; `typing`: by a key in a field, so more changes may follow at once.
    void changed(bool typing);

private:
    QLineEdit* add_field(const QString& hint, const QString& tip, int width);
    QCheckBox* add_check(const QString& text, const QString& tip);

    QLineEdit *text_, *min_, *max_, *address_;
    QCheckBox *alive_, *only_selection_, *never_freed_;
};

}  // namespace tidemark::gui
