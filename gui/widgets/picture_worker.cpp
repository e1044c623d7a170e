// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/picture_worker.h"

namespace tidemark::gui {

QThreadPool* picture_threads() {
    static QThreadPool pool;
    return &pool;
}

}  // namespace tidemark::gui
