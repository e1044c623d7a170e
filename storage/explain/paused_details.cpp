// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/paused_details.h"

#include <algorithm>

namespace tidemark {

PausedDetails::PausedDetails(const Trace& trace) {
    for (const Annotation& annotation : trace.annotations) {
        if (annotation.kind == AnnotationKind::details_paused) {
            pauses_.emplace_back(annotation.start, annotation.closed ? annotation.end : INT64_MAX);
            if (!annotation.closed) {
                open_since_ = annotation.start;
            }
        }
    }
    std::sort(pauses_.begin(), pauses_.end());
}

bool PausedDetails::contains(int64_t time) const {
    return std::any_of(pauses_.begin(), pauses_.end(),
                       [&](const auto& pause) { return pause.first <= time && time <= pause.second; });
}

}  // namespace tidemark
