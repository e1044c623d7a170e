// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Sessions of a small synthetic trace and of recorded ones.
#pragma once

#include <QDir>
#include <QTest>

#include "gui/model/session.h"
#include "storage/import/import.h"
#include "tests/unit/sample_trace.h"

namespace tidemark::gui::test {

inline std::unique_ptr<Session> session_of(std::shared_ptr<const Trace> trace) {
    return std::make_unique<Session>(trace, Session::analyze(trace));
}

inline std::unique_ptr<Session> synthetic_session() {
    return session_of(std::make_shared<const Trace>(tidemark::test::sample_trace()));
}

/// Returns null if the recorded snapshots do not exist.
inline std::unique_ptr<Session> recorded_session([[maybe_unused]] const char* name) {
#ifdef TIDEMARK_TEST_DATA
    const QString path = QStringLiteral(TIDEMARK_TEST_DATA "/snapshots/%1.pickle").arg(QLatin1String(name));
    Progress progress;
    auto trace = read_snapshot_trace(path.toStdString(), progress);
    return trace ? session_of(*trace) : nullptr;
#else
    return nullptr;
#endif
}

inline const std::vector<const char*>& recorded_names() {
    static const std::vector<const char*> names = {"frag_oom", "cudagraph", "varlen_expandable",
                                                   "streams",  "gpt_ring",  "two_gpus"};
    return names;
}

/// Returns whether a pixel differs from the background, which is the color of the top left pixel.
inline bool has_content(const QImage& image) {
    const QRgb background = image.pixel(0, 0);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            if (image.pixel(x, y) != background) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace tidemark::gui::test
