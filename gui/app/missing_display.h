// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the program says if it cannot show a window.
#pragma once

#include <QtGlobal>

namespace tidemark::gui {

/// Handles Qt's messages while the QApplication is made. If Qt finds no display, it prints the cause and the commands
/// that need none, and ends the process with exit_environment; Qt would abort it.
void report_missing_display(QtMsgType type, const QMessageLogContext& context, const QString& text);

}  // namespace tidemark::gui
