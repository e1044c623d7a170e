// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The threads of all work off the GUI thread. It never runs in Qt's global pool: QPainter of Qt 6.4 divides large fills
// among the threads of that pool and waits for them, so that jobs there stop the painting of every widget.
#pragma once

#include <QThreadPool>

namespace tidemark::gui {

/// The threads that compute what panes show. They finish before the application's end.
QThreadPool* worker_threads();
/// The threads that paint pictures. Long computations do not delay a picture.
QThreadPool* picture_threads();

/// Makes the calling thread wait for the GUI thread where both want the same core. Call it in each job.
void let_gui_thread_run_first();

}  // namespace tidemark::gui
