// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/chunk_codec.h"

#include <zstd.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

namespace tidemark {

namespace {

enum Column : size_t {
    alloc_gap,             // difference to the previous alloc_event (before_history counts as -1)
    free_after,            // 0: never; otherwise events from alloc to free requested, plus 1
    free_completed_after,  // 0: never; otherwise events from free requested to free completed, plus 1
    alloc_delay,           // ns since the previous allocation
    free_delay,            // ns from alloc to free requested
    free_completed_delay,  // ns from free requested to completed
    address_step,          // zigzag of the difference to the previous address
    requested,
    rounding,  // block size minus requested
    segment,   // 0: none; otherwise index plus 1
    stack,
    free_stack,
    origin,
    column_count
};

/// No sum of such differences overflows.
constexpr uint64_t most_events_between = preexisting_bit - 1;
constexpr size_t max_raw_bytes = size_t{chunk_capacity} * 8 * column_count + column_count;

uint64_t zigzag(uint64_t difference) {
    const auto value = static_cast<int64_t>(difference);
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
uint64_t unzigzag(uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

using Columns = std::array<std::vector<uint64_t>, column_count>;

Columns to_columns(std::span<const AllocationRow> rows) {
    Columns columns;
    for (auto& column : columns) {
        column.resize(rows.size());
    }
    FileEvent last_event = before_history;
    int64_t last_time = 0;
    uint64_t last_address = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const FileAllocation& a = rows[i].lifetime;
        columns[alloc_gap][i] = static_cast<uint64_t>(a.alloc_event - last_event);
        columns[alloc_delay][i] = static_cast<uint64_t>(rows[i].time - last_time);
        if (a.free_event != never_in_file) {
            columns[free_after][i] = static_cast<uint64_t>(a.free_event - a.alloc_event) + 1;
            columns[free_delay][i] = zigzag(static_cast<uint64_t>(rows[i].free_time - rows[i].time));
        }
        if (a.free_event != never_in_file && a.free_completed != never_in_file) {
            columns[free_completed_after][i] = static_cast<uint64_t>(a.free_completed - a.free_event) + 1;
            columns[free_completed_delay][i] =
                zigzag(static_cast<uint64_t>(rows[i].free_completed_time - rows[i].free_time));
        }
        columns[address_step][i] = zigzag(a.address - last_address);
        columns[requested][i] = a.requested;
        columns[rounding][i] = zigzag(a.block_size - a.requested);
        columns[segment][i] = a.segment == no_segment ? 0 : uint64_t{a.segment} + 1;
        columns[stack][i] = a.stack;
        columns[free_stack][i] = a.free_stack;
        columns[origin][i] = a.origin;
        last_event = a.alloc_event;
        last_time = rows[i].time;
        last_address = a.address;
    }
    return columns;
}

size_t planes_needed(const std::vector<uint64_t>& values) {
    uint64_t all = 0;
    for (uint64_t value : values) {
        all |= value;
    }
    size_t planes = 0;
    for (; all != 0; all >>= 8) {
        ++planes;
    }
    return planes;
}

Error damaged() { return input_error("The trace is damaged: a chunk of allocations cannot be decoded."); }

/// Adds all planes of a column to `values`. Reads nothing beyond `raw`.
bool read_column(std::span<const uint8_t>& raw, std::span<uint64_t> values) {
    if (raw.empty() || raw[0] > 8) {
        return false;
    }
    const size_t planes = raw[0];
    raw = raw.subspan(1);
    if (raw.size() < planes * values.size()) {
        return false;
    }
    std::fill(values.begin(), values.end(), 0);
    for (size_t plane = 0; plane < planes; ++plane) {
        const uint8_t* bytes = raw.data() + plane * values.size();
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] |= uint64_t{bytes[i]} << (8 * plane);
        }
    }
    raw = raw.subspan(planes * values.size());
    return true;
}

/// Fills the device from decoded columns and checks every reference.
class ChunkFiller {
public:
    ChunkFiller(DeviceHistory& device, uint32_t first) : device_(device), first_(first) {}

    bool fill(const std::vector<uint64_t>& values, uint32_t count) {
        const auto column = [&](Column c, uint32_t i) { return values[size_t{c} * count + i]; };
        int64_t event = before_history;
        int64_t time = 0;
        uint64_t address = 0;
        for (uint32_t i = 0; i < count; ++i) {
            event += static_cast<int64_t>(column(alloc_gap, i) & most_events_between);
            time = static_cast<int64_t>(static_cast<uint64_t>(time) + column(alloc_delay, i));
            address += unzigzag(column(address_step, i));
            Allocations& a = device_.allocations;
            const uint32_t k = first_ + i;
            int64_t freed = never_in_file, done = never_in_file;
            if (column(free_after, i) != 0) {
                freed = event + static_cast<int64_t>((column(free_after, i) - 1) & most_events_between);
            }
            if (column(free_after, i) != 0 && column(free_completed_after, i) != 0) {
                done = freed + static_cast<int64_t>((column(free_completed_after, i) - 1) & most_events_between);
            }
            const auto freed_time = static_cast<int64_t>(static_cast<uint64_t>(time) + unzigzag(column(free_delay, i)));
            const auto free_completed_time =
                static_cast<int64_t>(static_cast<uint64_t>(freed_time) + unzigzag(column(free_completed_delay, i)));
            const auto created_here = in_memory(event), freed_here = in_memory(freed), done_here = in_memory(done);
            if (!created_here || !freed_here || !done_here || !note(*created_here, time, Action::alloc, k) ||
                !note(*freed_here, freed_time, Action::free_requested, k) ||
                !note(*done_here, free_completed_time, Action::free_completed, k)) {
                return false;
            }
            a.alloc_event[k] = *created_here;
            a.free_event[k] = *freed_here;
            a.free_completed[k] = *done_here;
            a.address[k] = address;
            a.requested[k] = column(requested, i);
            a.block_size[k] = a.requested[k] + unzigzag(column(rounding, i));
            const uint64_t seg = column(segment, i);
            if (seg > device_.segments.size() || column(stack, i) > UINT32_MAX || column(free_stack, i) > UINT32_MAX ||
                column(origin, i) > UINT32_MAX || a.block_size[k] > INT64_MAX || a.requested[k] > INT64_MAX) {
                return false;
            }
            a.segment[k] = seg == 0 ? no_segment : static_cast<uint32_t>(seg - 1);
            a.stack[k] = static_cast<StackId>(column(stack, i));
            a.free_stack[k] = static_cast<StackId>(column(free_stack, i));
            a.origin[k] = static_cast<uint32_t>(column(origin, i));
        }
        return true;
    }

private:
    std::optional<EventNumber> in_memory(FileEvent event) const {
        if (event == before_history || event == never_in_file) {
            return event_as<EventNumber>(event);
        }
        return device_.numbers.find(event);
    }

    bool note(EventNumber event, int64_t time, Action action, uint32_t allocation) {
        if (event == before_history || event == never) {
            return true;
        }
        if (event < 0 || event >= device_.event_count()) {
            return false;
        }
        // Relaxed: in a forged file two chunks may refer to one event; then either may win.
        const auto e = static_cast<size_t>(event);
        std::atomic_ref(device_.event_time[e]).store(time, std::memory_order_relaxed);
        std::atomic_ref(device_.event_ref[e].packed)
            .store(EventRef(action, allocation).packed, std::memory_order_relaxed);
        return true;
    }

    DeviceHistory& device_;
    const uint32_t first_;
};

}  // namespace

std::vector<std::byte> encode_chunk(std::span<const AllocationRow> rows) {
    const Columns columns = to_columns(rows);
    std::vector<uint8_t> raw;
    for (const auto& column : columns) {
        const size_t planes = planes_needed(column);
        raw.push_back(static_cast<uint8_t>(planes));
        for (size_t plane = 0; plane < planes; ++plane) {
            for (uint64_t value : column) {
                raw.push_back(static_cast<uint8_t>(value >> (8 * plane)));
            }
        }
    }
    std::vector<std::byte> packed(ZSTD_compressBound(raw.size()));
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 3);
    packed.resize(ZSTD_compress2(context.get(), packed.data(), packed.size(), raw.data(), raw.size()));
    return packed;
}

Status decode_chunk(std::span<const std::byte> bytes, DeviceHistory& device, uint32_t first, uint32_t count) {
    const unsigned long long raw_size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (raw_size == ZSTD_CONTENTSIZE_ERROR || raw_size == ZSTD_CONTENTSIZE_UNKNOWN || raw_size > max_raw_bytes ||
        count > chunk_capacity) {
        return damaged();
    }
    std::vector<uint8_t> raw(raw_size);
    if (ZSTD_decompress(raw.data(), raw.size(), bytes.data(), bytes.size()) != raw.size()) {
        return damaged();
    }
    std::vector<uint64_t> values(size_t{column_count} * count);
    std::span<const uint8_t> rest(raw);
    for (size_t c = 0; c < column_count; ++c) {
        if (!read_column(rest, std::span(values).subspan(c * count, count))) {
            return damaged();
        }
    }
    return ChunkFiller(device, first).fill(values, count) ? Status() : damaged();
}

}  // namespace tidemark
