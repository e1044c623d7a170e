// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The active filters of a table as a row of chips, each with a name and a cross that removes it.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

namespace tidemark::gui {

class WrappingLayout;

struct FilterChip {
    QString name;  ///< "Block size from 1 MiB"
    std::function<void()> remove;
};

/// Hidden without chips. Thread: GUI.
class FilterChips : public QWidget {
    Q_OBJECT
public:
    explicit FilterChips(QWidget* parent = nullptr);

    void show_chips(std::vector<FilterChip> chips);
    QStringList names() const;
    /// Calls remove() of every chip.
    void clear_all();

private:
    void add_button(const QString& text, const QString& name, std::function<void()> on_click);

    std::vector<FilterChip> chips_;
    WrappingLayout* layout_;
};

}  // namespace tidemark::gui
