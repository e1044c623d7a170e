// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/worker_threads.h"

#include <QCoreApplication>

namespace tidemark::gui {

namespace {

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

}  // namespace tidemark::gui
