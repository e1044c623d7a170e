// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The composition of the memory: one bar, its parts named below with numbers that add up.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/model/palette.h"
#include "storage/explain/explanation.h"

namespace tidemark::gui {

class TextBlock;

class ShareBar : public QWidget {
    Q_OBJECT
public:
    explicit ShareBar(QWidget* parent = nullptr);
    /// Shows the parts of the program's own memory. `of_others`: bytes of other processes, which are part of the total.
    void show_shares(const Explanation& explanation, int64_t of_others);
    QString plain_text() const;

protected:
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    class Bar;
    void fill();

    std::vector<Share> shares_;
    int64_t own_ = 0, of_others_ = 0;
    Bar* bar_;
    TextBlock* legend_;
};

/// Returns the color of part `index`: that of its category or component in every other pane.
QColor share_color(const Theme& theme, const std::vector<Share>& shares, size_t index);

}  // namespace tidemark::gui
