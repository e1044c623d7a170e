// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/format/chunk_codec.h"

#include <zstd.h>

#include <algorithm>
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

/// One column of a chunk: planes of one byte per row.
struct PackedColumn {
    const uint8_t* bytes = nullptr;
    size_t planes = 0;
};
using PackedColumns = std::array<PackedColumn, column_count>;

/// Finds the columns in `raw`. Returns false if they do not fit.
bool find_columns(std::span<const uint8_t> raw, uint32_t rows, PackedColumns& columns) {
    for (PackedColumn& column : columns) {
        if (raw.empty() || raw[0] > sizeof(uint64_t) || raw.size() - 1 < size_t{raw[0]} * rows) {
            return false;
        }
        column = {raw.data() + 1, raw[0]};
        raw = raw.subspan(1 + column.planes * rows);
    }
    return true;
}

/// Rows that are unpacked at a time, so that they stay in the cache until they are used.
constexpr uint32_t block_rows = 512;
using Block = std::array<std::array<uint64_t, block_rows>, column_count>;

template <size_t planes>
void unpack_planes(const uint8_t* bytes, size_t stride, uint32_t rows, uint64_t* values) {
    for (uint32_t i = 0; i < rows; ++i) {
        uint64_t value = 0;
        for (size_t plane = 0; plane < planes; ++plane) {
            value |= uint64_t{bytes[plane * stride + i]} << (8 * plane);
        }
        values[i] = value;
    }
}

using Unpack = void (*)(const uint8_t* bytes, size_t stride, uint32_t rows, uint64_t* values);
constexpr std::array<Unpack, sizeof(uint64_t) + 1> unpack{unpack_planes<0>, unpack_planes<1>, unpack_planes<2>,
                                                          unpack_planes<3>, unpack_planes<4>, unpack_planes<5>,
                                                          unpack_planes<6>, unpack_planes<7>, unpack_planes<8>};

/// Copies values that must be at most `most`. Returns false if one is larger.
template <class T>
bool copy_checked(std::span<const uint64_t> values, uint64_t most, T* to) {
    uint64_t largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, values[i]);
        to[i] = static_cast<T>(values[i]);
    }
    return largest <= most;
}

/// Fills the device from decoded columns and checks every reference.
class ChunkFiller {
public:
    ChunkFiller(DeviceHistory& device, uint32_t first)
        : device_(device), are_numbers_equal_(device.numbers.are_equal()), next_(first) {}

    /// Takes the next rows.
    bool fill(const Block& block, uint32_t rows) {
        const bool is_sound = fill_events(block, rows) && fill_others(block, rows);
        next_ += rows;
        return is_sound;
    }

private:
    bool fill_events(const Block& block, uint32_t rows) {
        Allocations& a = device_.allocations;
        for (uint32_t i = 0; i < rows; ++i) {
            event_ += static_cast<int64_t>(block[alloc_gap][i] & most_events_between);
            time_ = static_cast<int64_t>(static_cast<uint64_t>(time_) + block[alloc_delay][i]);
            const uint32_t k = next_ + i;
            const uint64_t after = block[free_after][i], completed_after = block[free_completed_after][i];
            int64_t freed = never_in_file, done = never_in_file;
            if (after != 0) {
                freed = event_ + static_cast<int64_t>((after - 1) & most_events_between);
            }
            if (after != 0 && completed_after != 0) {
                done = freed + static_cast<int64_t>((completed_after - 1) & most_events_between);
            }
            const auto freed_time = static_cast<int64_t>(static_cast<uint64_t>(time_) + unzigzag(block[free_delay][i]));
            const auto free_completed_time =
                static_cast<int64_t>(static_cast<uint64_t>(freed_time) + unzigzag(block[free_completed_delay][i]));
            const auto created_here = in_memory(event_), freed_here = in_memory(freed), done_here = in_memory(done);
            if (!created_here || !freed_here || !done_here || !note(*created_here, time_, Action::alloc, k) ||
                !note(*freed_here, freed_time, Action::free_requested, k) ||
                !note(*done_here, free_completed_time, Action::free_completed, k)) {
                return false;
            }
            a.alloc_event[k] = *created_here;
            a.free_event[k] = *freed_here;
            a.free_completed[k] = *done_here;
        }
        return true;
    }

    bool fill_others(const Block& block, uint32_t rows) {
        Allocations& a = device_.allocations;
        const auto column = [&](Column c) { return std::span(block[c]).first(rows); };
        uint64_t* const sizes = a.block_size.data() + next_;
        const uint64_t* const asked = a.requested.data() + next_;
        uint32_t* const segments = a.segment.data() + next_;
        uint64_t largest = 0;
        bool is_sound = copy_checked(column(requested), INT64_MAX, a.requested.data() + next_);
        for (uint32_t i = 0; i < rows; ++i) {
            address_ += unzigzag(block[address_step][i]);
            a.address[next_ + i] = address_;
            sizes[i] = asked[i] + unzigzag(block[rounding][i]);
            largest = std::max(largest, sizes[i]);
        }
        is_sound = is_sound && largest <= INT64_MAX && copy_checked(column(segment), device_.segments.size(), segments);
        // Index plus 1, or 0 for none.
        static_assert(no_segment == UINT32_MAX);
        std::for_each(segments, segments + rows, [](uint32_t& s) { --s; });
        return is_sound && copy_checked(column(stack), UINT32_MAX, a.stack.data() + next_) &&
               copy_checked(column(free_stack), UINT32_MAX, a.free_stack.data() + next_) &&
               copy_checked(column(origin), UINT32_MAX, a.origin.data() + next_);
    }

    std::optional<EventNumber> in_memory(FileEvent event) const {
        if (event == before_history || event == never_in_file) {
            return event_as<EventNumber>(event);
        }
        if (are_numbers_equal_ && 0 <= event && event < never) {
            return static_cast<EventNumber>(event);
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
    const bool are_numbers_equal_;
    uint32_t next_;
    // of the row before
    int64_t event_ = before_history, time_ = 0;
    uint64_t address_ = 0;
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
    const auto bytes_of_columns = std::make_unique_for_overwrite<uint8_t[]>(raw_size);
    const std::span raw(bytes_of_columns.get(), raw_size);
    PackedColumns columns;
    if (ZSTD_decompress(raw.data(), raw.size(), bytes.data(), bytes.size()) != raw.size() ||
        !find_columns(raw, count, columns)) {
        return damaged();
    }
    ChunkFiller filler(device, first);
    Block block;
    for (uint32_t row = 0; row < count; row += block_rows) {
        const uint32_t rows = std::min(count - row, block_rows);
        for (size_t c = 0; c < column_count; ++c) {
            unpack[columns[c].planes](columns[c].bytes + row, count, rows, block[c].data());
        }
        if (!filler.fill(block, rows)) {
            return damaged();
        }
    }
    return {};
}

}  // namespace tidemark
