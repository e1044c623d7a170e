// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Names of groups inside their bands of a stacked picture, where a band is high and wide enough for them.
#pragma once

#include <QFontMetrics>
#include <vector>

#include "gui/widgets/coordinates.h"
#include "gui/widgets/picture.h"

namespace tidemark::gui {

struct BandLabel {
    int group = 0;
    QRectF place;
    QString text;
};

/// Returns the labels of the bands of `picture`, which is drawn into `area`. `x`, `y`: of the plot.
std::vector<BandLabel> band_labels(const TimelinePicture& picture, const QFontMetrics& metrics, QRect area,
                                   const AxisMap& x, const AxisMap& y);

}  // namespace tidemark::gui
