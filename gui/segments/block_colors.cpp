// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/block_colors.h"

#include <algorithm>
#include <cmath>

#include "gui/model/grouping.h"
#include "storage/replay/active_walk.h"

namespace tidemark::gui {

namespace {
constexpr int scale_steps = 64;
}

void BlockColors::prepare(const Session& session, const Theme& theme, MapColors by, const TimePoint& time_point) {
    by_ = by;
    time_point_ = time_point;
    device_ = &session.device();
    plain_ = theme.allocated_line.rgb();
    age_factor_ = 1 / std::log2(2.0 + std::max<EventNumber>(time_point.event, 0));
    grouping_ = nullptr;
    unknown_group_ = -1;
    if (by == MapColors::group) {
        grouping_ = &session.grouping();
        const auto groups = session.shared_groups();
        groups_.resize(static_cast<size_t>(groups->count()));
        unknown_group_ = is_unknown(*groups, groups->rest) ? groups->rest : -1;
        for (int i = 0; i < groups->count(); ++i) {
            groups_[static_cast<size_t>(i)] = color_of_group(theme, *groups, i).rgb();
        }
    } else if (by == MapColors::category) {
        category_of_ = {session.graph(), device_->device, session.cursor_time()};
        categories_.clear();
        for (int c = 0; c < category_count; ++c) {
            categories_.push_back(category_color(theme, static_cast<Category>(c)).rgb());
        }
    } else if (by == MapColors::stream) {
        streams_.resize(session.trace().streams.size());
        for (uint32_t i = 0; i < streams_.size(); ++i) {
            streams_[i] = id_color(theme, i).rgb();
        }
    } else if (by != MapColors::state) {
        scale_.resize(scale_steps);
        for (int i = 0; i < scale_steps; ++i) {
            scale_[static_cast<size_t>(i)] = scale_color(theme, i / (scale_steps - 1.0)).rgb();
        }
    }
}

QRgb BlockColors::scaled(double value) const {
    return scale_[static_cast<size_t>(std::clamp(value, 0.0, 1.0) * (scale_steps - 1))];
}

QRgb BlockColors::of(AllocationIndex a) const {
    const Allocations& allocations = device_->allocations;
    switch (by_) {
        case MapColors::group:
            return a < grouping_->group_of.size()
                       ? groups_[grouping_->group_at(a, state_at(allocations, a, time_point_))]
                       : plain_;
        case MapColors::category: return categories_[static_cast<size_t>(category_of_(a))];
        case MapColors::age: {
            const double events =
                std::max(0.0, static_cast<double>(state_at(allocations, a, time_point_)) - allocations.alloc_event[a]);
            return allocations.alloc_event[a] == before_history ? scale_.back()
                                                                : scaled(std::log2(1 + events) * age_factor_);
        }
        case MapColors::size: {
            static const double low = std::log2(smallest_on_scale);
            static const double span = std::log2(largest_on_scale) - low;
            const double size = static_cast<double>(std::max<uint64_t>(allocations.block_size[a], 1));
            return scaled((std::log2(size) - low) / span);
        }
        case MapColors::stream: {
            const uint32_t segment = allocations.segment[a];
            const uint32_t stream = segment == no_segment ? UINT32_MAX : device_->segments[segment].stream;
            return stream < streams_.size() ? streams_[stream] : plain_;
        }
        case MapColors::state: break;
    }
    return plain_;
}

bool BlockColors::is_unexplained(AllocationIndex a) const {
    const Allocations& allocations = device_->allocations;
    return allocations.alloc_event[a] == before_history && allocations.stack[a] == 0;
}

bool BlockColors::has_unknown_role(AllocationIndex a) const {
    if (by_ == MapColors::category) {
        return category_of_(a) == Category::unknown;
    }
    return unknown_group_ >= 0 && a < grouping_->group_of.size() &&
           grouping_->group_at(a, state_at(device_->allocations, a, time_point_)) == unknown_group_;
}

}  // namespace tidemark::gui
