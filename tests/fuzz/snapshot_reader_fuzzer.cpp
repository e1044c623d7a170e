// Any bytes: read_snapshot must end with a snapshot that keeps its promises or with one sentence.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "storage/import/snapshot_reader.h"

namespace {

void require(bool promise) {
    if (!promise) {
        std::abort();
    }
}

void check_event(const tidemark::Snapshot& snapshot, const tidemark::SnapshotEvent& event) {
    using tidemark::Action;
    require(event.stack < snapshot.stacks.stack_count());
    require(event.context < snapshot.contexts.size());
    require(event.pool == tidemark::pool_not_recorded || event.pool < snapshot.pools.size());
    require(event.stream == 0 || event.stream < snapshot.streams.size());
    require(event.action != Action::unknown || event.unknown_action < snapshot.unknown_actions.size());
}

void check_segment(const tidemark::Snapshot& snapshot, const tidemark::SnapshotSegment& segment) {
    require(segment.stack < snapshot.stacks.stack_count() && segment.pool < snapshot.pools.size());
    require(segment.device >= 0 && segment.device < tidemark::max_devices);
    uint64_t next = segment.address;
    for (const tidemark::SnapshotBlock& block : segment.blocks) {
        require(block.address == next && block.stack < snapshot.stacks.stack_count());
        next += block.size;
    }
    require(next == segment.address + segment.total_size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto source = tidemark::ByteSource::from_memory(std::span(data, size));
    if (!source) {
        require(!source.error().message.empty());
        return 0;
    }
    tidemark::Progress progress;
    const auto snapshot = tidemark::read_snapshot(**source, progress);
    if (!snapshot) {
        require(!snapshot.error().message.empty());
        return 0;
    }
    for (const auto& trace : snapshot->traces) {
        for (const auto& event : trace) {
            check_event(*snapshot, event);
        }
    }
    for (const auto& segment : snapshot->segments) {
        check_segment(*snapshot, segment);
    }
    return 0;
}
