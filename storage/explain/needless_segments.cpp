// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/needless_segments.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "storage/explain/reserved_growth.h"

namespace tidemark {
namespace {

class NeedlessFinder {
public:
    explicit NeedlessFinder(const AnalysisContext& context) : context_(context), device_(context.device()) {}

    NeedlessSegments find() {
        for (EventNumber n = 0; n < device_.event_count(); ++n) {
            const EventRef ref = device_.event_ref[static_cast<size_t>(n)];
            switch (ref.action()) {
                case Action::free_requested: request_free(ref.index()); break;
                case Action::free_completed: complete_free(ref.index(), n); break;
                case Action::segment_alloc:
                case Action::segment_map: take(ref.index(), n); break;
                case Action::segment_free:
                case Action::segment_unmap: return_segment(ref.index()); break;
                default: break;
            }
        }
        find_pending();
        return std::move(found_);
    }

private:
    using Place = std::tuple<uint32_t, uint32_t, bool>;  ///< stream, pool, whether it is for large blocks
    using Blocks = std::set<std::pair<uint64_t, AllocationIndex>>;

    static Place place_of(const Segment& segment) { return {segment.stream, segment.pool, segment.is_large}; }

    Blocks* blocks_beside(AllocationIndex a) {
        const uint32_t segment = device_.allocations.segment[a];
        return segment == no_segment ? nullptr : &pending_[place_of(device_.segments[segment])];
    }

    void request_free(AllocationIndex a) {
        pending_bytes_ += static_cast<int64_t>(device_.allocations.block_size[a]);
        if (Blocks* blocks = blocks_beside(a)) {
            blocks->emplace(device_.allocations.block_size[a], a);
        }
    }

    void complete_free(AllocationIndex a, EventNumber n) {
        const EventNumber requested = device_.allocations.free_event[a];
        if (requested < 0 || requested >= n) {
            return;
        }
        pending_bytes_ -= static_cast<int64_t>(device_.allocations.block_size[a]);
        if (Blocks* blocks = blocks_beside(a)) {
            blocks->erase({device_.allocations.block_size[a], a});
        }
    }

    void take(uint32_t segment, EventNumber n) {
        const AllocationIndex request = request_of(device_, n);
        if (request == no_allocation) {
            return;
        }
        Blocks& blocks = pending_[place_of(device_.segments[segment])];
        const auto fits = blocks.lower_bound({device_.allocations.block_size[request], 0});
        if (fits == blocks.end()) {
            return;
        }
        blocks.erase(fits);
        needless_.insert(segment);
        bytes_ += static_cast<int64_t>(device_.segments[segment].size);
        if (bytes_ > found_.bytes) {
            found_.bytes = bytes_;
            found_.count = static_cast<int64_t>(needless_.size());
            found_.last = n;
        }
        if (pending_bytes_ > found_.most_pending) {
            found_.most_pending = pending_bytes_;
            found_.most_pending_at = n;
        }
    }

    void return_segment(uint32_t segment) {
        if (needless_.erase(segment) > 0) {
            bytes_ -= static_cast<int64_t>(device_.segments[segment].size);
        }
    }

    void find_pending() {
        const EventNumber at = found_.most_pending_at;
        context_.analysis().live().for_each_active(at, [&](AllocationIndex a) {
            if (device_.allocations.free_event[a] < at) {
                found_.pending.push_back(a);
            }
        });
    }

    const AnalysisContext& context_;
    const DeviceHistory& device_;
    std::map<Place, Blocks> pending_;
    int64_t pending_bytes_ = 0;
    std::set<uint32_t> needless_;  ///< those that exist
    int64_t bytes_ = 0;            ///< of them
    NeedlessSegments found_;
};

}  // namespace

NeedlessSegments find_needless_segments(const AnalysisContext& context) { return NeedlessFinder(context).find(); }

}  // namespace tidemark
