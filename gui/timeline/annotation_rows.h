// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Annotations in nested rows: within a row they never overlap, so a row is searched by bisection.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "storage/read/open_trace.h"

namespace tidemark::gui {

constexpr int most_annotation_rows = 3;

struct AnnotationRows {
    /// Outermost first, each by start. Steps, and stretches of repeated steps, are in rows of their own.
    std::vector<std::vector<const Annotation*>> rows;
    size_t hidden = 0;  ///< annotations nested deeper than the rows shown

    /// Returns the annotations open at a time, outermost first, with hidden ones.
    std::vector<const Annotation*> at(int64_t time) const;
    std::vector<const Annotation*> all;                      ///< by start
    std::shared_ptr<const std::vector<Annotation>> steps;    ///< Trace::steps as spans
    std::shared_ptr<const std::vector<Annotation>> repeats;  ///< stretches of DeviceHistory::repeats as spans
};

/// Returns the name of an annotation: the program's own, or in the reader's language that of the recorder.
QString annotation_name(const Annotation& annotation);

/// Steps, repeated steps of one device, and annotations of it and of no device. Points into the trace.
AnnotationRows lay_out_annotations(const Trace& trace, int device);

}  // namespace tidemark::gui
