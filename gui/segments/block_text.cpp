// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/block_text.h"

#include <QCoreApplication>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/replay/active_walk.h"

namespace tidemark::gui {

namespace {

struct Map {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::SegmentMap)
};

QString state_name(BlockState state) {
    switch (state) {
        case BlockState::allocated: return Map::tr("allocated");
        case BlockState::pending_free: return Map::tr("pending free");
        case BlockState::inactive: break;
    }
    return Map::tr("free");
}

QString place_lines(const Session& session, const SegmentState& segment, uint64_t address) {
    const Segment& s = session.device().segments[segment.segment];
    if (session.trace().event_source == EventSource::driver) {
        return address_text(address);
    }
    const QString pool = s.pool_known ? pool_text(session.trace(), s.pool) : Map::tr("pool not recorded");
    return Map::tr("%1, %2 into a segment of %3")
               .arg(address_text(address), bytes_text(address - segment.address), bytes_text(segment.size)) +
           QStringLiteral("<br>") +
           (pool + QStringLiteral(" · ") + stream_text(session.trace(), s.stream)).toHtmlEscaped();
}

}  // namespace

QString summarize_block(const Session& session, const MemoryState& state, BlockRef ref) {
    const Block& block = block_of(state, ref);
    QStringList facts{bytes_text(block.size), state_name(block.state), address_text(block.address)};
    if (block.allocation != no_allocation) {
        facts << stack_text(session.trace().stacks, session.device().allocations.stack[block.allocation]);
    }
    return facts_text(facts);
}

QString describe_block(const Session& session, const MemoryState& state, BlockRef ref, int others) {
    const SegmentState& segment = state.segments[ref.segment];
    const Block& block = segment.blocks[ref.block];
    QStringList lines;
    lines << QStringLiteral("<b>%1</b> %2").arg(bytes_text(block.size), state_name(block.state));
    if (block.allocation != no_allocation) {
        const DeviceHistory& device = session.device();
        const Allocations& all = device.allocations;
        const AllocationIndex a = block.allocation;
        lines << QStringLiteral("<b>%1</b>").arg(stack_text(session.trace().stacks, all.stack[a]).toHtmlEscaped());
        lines << Map::tr("requested %1").arg(both_bytes_text(all.requested[a]));
        lines << Map::tr("block size %1").arg(both_bytes_text(block.size));
        if (const uint64_t rounding = rounding_of(all, a)) {
            lines << Map::tr("allocator rounding %1, %2 of the block")
                         .arg(both_bytes_text(rounding),
                              percent_text(static_cast<double>(rounding), static_cast<double>(block.size)));
        }
        if (all.alloc_event[a] == before_history) {
            lines << Map::tr("allocated before the history begins");
        } else {
            const EventNumber now = state_at(all, a, state.point);
            lines << Map::tr("allocated at %1, %2 (%3 event(s)) ago", nullptr, plural(now - all.alloc_event[a]))
                         .arg(time_point_text(device.alloc_time(a)),
                              duration_text(std::max<int64_t>(0, device.time_of_state(now) - device.alloc_time(a))),
                              count_text(now - all.alloc_event[a]));
        }
        lines << allocation_text(device, a);
    } else if (segment.cached()) {
        lines << Map::tr("A cached segment: it has no block in use.");
    } else {
        lines << Map::tr("A free gap between blocks in use.");
    }
    lines << place_lines(session, segment, block.address);
    if (others > 0) {
        lines << Map::tr("%1 more block(s) under this pixel: zoom in to see them", nullptr, others)
                     .arg(count_text(others));
    }
    return QStringLiteral("<div style='white-space:pre'>") + lines.join(QStringLiteral("<br>")) +
           QStringLiteral("</div>");
}

}  // namespace tidemark::gui
