// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A text over the middle of a pane that has nothing to show: it says why, and what to do.
#pragma once

class QLabel;
class QWidget;

namespace tidemark::gui {

/// Returns a label over `pane`, which owns it and gives it its place. Clicks go to what is below it.
QLabel* make_pane_note(QWidget* pane);

}  // namespace tidemark::gui
