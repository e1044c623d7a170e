// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The controls for the settings of PyTorch's allocator. They begin with the recorded settings.
#pragma once

#include <vector>

#include "gui/widgets/toolbar.h"
#include "storage/whatif/asked_settings.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QToolButton;

namespace tidemark::gui {

/// Thread: GUI.
class SettingsBar : public Toolbar {
    Q_OBJECT
public:
    explicit SettingsBar(QWidget* parent = nullptr);

    /// Shows the recorded settings and forgets others.
    void set_recorded(const AllocatorSettings& recorded);
    /// Returns only what differs from the recorded settings.
    AskedSettings asked() const;
    /// Returns whether all settings are the recorded ones.
    bool asked_for_nothing() const;
    void show_recorded();

signals:
    void changed();

private:
    template <class Value>
    void fill(QComboBox* box, Value recorded, const std::vector<Value>& values, QString (*name)(Value));
    QComboBox* add_choice(const QString& name, const QString& tip);
    void add_named(const QString& name, QWidget* control, const QString& tip);
    void report();

    AllocatorSettings recorded_;
    QCheckBox* expandable_;
    QComboBox *max_split_, *divisions_, *threshold_;
    QDoubleSpinBox* limit_;
    QToolButton* reset_ = nullptr;
    bool is_filling_ = true;  ///< changes are not the user's
};

}  // namespace tidemark::gui
