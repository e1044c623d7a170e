// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/worker_threads.h"

#include <unistd.h>

#include <QCoreApplication>

namespace tidemark::gui {

namespace {

// Of three threads on two cores the GUI thread would get two thirds of one, in slices as long as a frame. A job with
// this niceness gets a quarter of a core that another thread needs too: enough to go on beside other programs.
constexpr int niceness = 5;

struct Threads {
    QThreadPool workers, painters;
    /// Jobs use fonts and translations, which end with the application.
    Threads() {
        qAddPostRoutine([] {
            worker_threads()->waitForDone();
            picture_threads()->waitForDone();
        });
    }
};

Threads& threads() {
    static Threads threads;
    return threads;
}

}  // namespace

QThreadPool* worker_threads() { return &threads().workers; }

QThreadPool* picture_threads() { return &threads().painters; }

void let_gui_thread_run_first() {
    [[maybe_unused]] thread_local const int lowered = nice(niceness);  // on Linux of this thread only
}

}  // namespace tidemark::gui
