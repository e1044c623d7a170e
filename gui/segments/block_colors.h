// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The color of a block in the segment map, and its legend.
#pragma once

#include <QColor>
#include <QString>
#include <vector>

#include "gui/model/palette.h"
#include "gui/model/session.h"

namespace tidemark::gui {

enum class MapColors { group, category, age, size, stream, state };

class BlockColors {
public:
    /// Looks up the inputs of the colors; cheap enough for every frame.
    void prepare(const Session& session, const Theme& theme, MapColors by, const TimePoint& time_point);

    QRgb of(AllocationIndex a) const;
    /// Returns whether neither a stack nor the history explains a block; it is drawn hatched.
    bool is_unexplained(AllocationIndex a) const;
    /// Returns whether the color means that the role of the block is unknown; it is drawn hatched, as in the plots.
    bool has_unknown_role(AllocationIndex a) const;

private:
    QRgb scaled(double value) const;

    MapColors by_ = MapColors::group;
    TimePoint time_point_;
    const DeviceHistory* device_ = nullptr;
    const Grouping* grouping_ = nullptr;
    int unknown_group_ = -1;  ///< -1: none
    CategoryLookup category_of_;
    std::vector<QRgb> categories_, groups_, streams_, scale_;
    QRgb plain_ = 0;
    double age_factor_ = 1;
};

/// The ends of the size scale in bytes.
constexpr uint64_t smallest_on_scale = 512, largest_on_scale = uint64_t{16} << 30;

}  // namespace tidemark::gui
