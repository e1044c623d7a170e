// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads any bytes as a snapshot. read_snapshot() must return a snapshot that keeps its invariants or an error with a
// message, and derive_history() must accept every snapshot.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "storage/analysis/analysis.h"
#include "storage/import/derive_history.h"
#include "storage/import/snapshot_reader.h"
#include "storage/replay/memory_state.h"
#include "tests/fuzz/mutator.h"

namespace {

/// Aborts, which the fuzzer reports, if an invariant does not hold.
void require(bool invariant) {
    if (!invariant) {
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

/// Derives the history of one device and runs the queries of a viewer on it.
void derive(const tidemark::Snapshot& snapshot, int index) {
    auto trace = std::make_shared<tidemark::Trace>();
    trace->settings = snapshot.settings;
    trace->devices.push_back(tidemark::derive_history(snapshot, index, 0, trace->data_gaps));
    const tidemark::DeviceHistory& device = trace->devices.front();
    const tidemark::Analysis analysis(trace, device);
    const tidemark::EventNumber end = device.event_count();
    tidemark::memory_state(device, analysis.live(), end / 2);
    require(analysis.statistics().at(end) == analysis.statistics().at(end));
    for (const tidemark::EventRef ref : device.event_ref) {
        const bool of_segment =
            ref.action() >= tidemark::Action::segment_alloc && ref.action() <= tidemark::Action::segment_unmap;
        const bool of_allocation = ref.action() <= tidemark::Action::free_completed;
        require(ref.index() < (of_allocation ? device.allocations.size()
                               : of_segment  ? device.segments.size()
                                             : device.others.size()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto source = tidemark::ByteSource::from_memory(std::span(data, size));
    if (!source) {
        require(!source.error().sentence.english().empty());
        return 0;
    }
    tidemark::Progress progress;
    const auto snapshot = tidemark::read_snapshot(**source, progress);
    if (!snapshot) {
        require(!snapshot.error().sentence.english().empty());
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
    for (size_t device = 0; device < std::min<size_t>(snapshot->traces.size(), 2); ++device) {
        derive(*snapshot, static_cast<int>(device));
    }
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    return tidemark::fuzz::mutate(data, size, most, seed, [](std::span<const uint8_t> pickle, uint64_t s) {
        return tidemark::hostile::mutate_pickle(pickle, s);
    });
}
