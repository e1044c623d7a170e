// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/chunk_forger.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

namespace tidemark::hostile {

namespace {

constexpr size_t most_raw_bytes = 16 << 20;

/// A column: the number of its byte planes, then the planes, each with one byte per allocation.
struct RawColumn {
    size_t at = 0, planes = 0;
};

std::vector<RawColumn> columns_of(const Bytes& raw, size_t count) {
    std::vector<RawColumn> columns;
    for (size_t at = 0; at < raw.size();) {
        columns.push_back({at, raw[at]});
        at += 1 + raw[at] * count;
    }
    return columns;
}

/// Gives a column all eight planes, so that it can have any value.
void widen(Bytes& raw, const RawColumn& column, size_t count) {
    if (column.planes >= 8) {
        return;
    }
    const auto end = raw.begin() + static_cast<ptrdiff_t>(std::min(column.at + 1 + column.planes * count, raw.size()));
    raw.insert(end, (8 - column.planes) * count, 0);
    raw[column.at] = 8;
}

void set_value(Bytes& raw, const RawColumn& column, size_t count, size_t row, uint64_t value) {
    for (size_t plane = 0; plane < 8; ++plane) {
        const size_t at = column.at + 1 + plane * count + row;
        if (at < raw.size()) {
            raw[at] = static_cast<uint8_t>(value >> (8 * plane));
        }
    }
}

Bytes decompress(const Bytes& packed) {
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most_raw_bytes) {
        return {};
    }
    Bytes raw(size);
    return ZSTD_isError(ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size())) ? Bytes() : raw;
}

Bytes compress(const Bytes& raw) {
    Bytes packed(ZSTD_compressBound(raw.size()));
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), raw.data(), raw.size()));
    ZSTD_freeCCtx(context);
    return packed;
}

int64_t pick_chunk(const Database& database, Dice& dice) {
    const int64_t chunks = database.integer("SELECT count(*) FROM allocation_chunk");
    return database.integer(fmt::format("SELECT id FROM allocation_chunk LIMIT 1 OFFSET {}",
                                        dice.below(static_cast<uint64_t>(std::max<int64_t>(chunks, 1)))),
                            -1);
}

}  // namespace

void forge_columns(Bytes& raw, size_t count, Dice& dice) {
    const std::vector<RawColumn> columns = columns_of(raw, count);
    if (columns.empty() || count == 0) {
        return;
    }
    const RawColumn column = columns[dice.below(columns.size())];
    widen(raw, column, count);
    const bool all = dice.one_in(4);
    const auto value = static_cast<uint64_t>(dice.extreme(1));
    const size_t row = dice.below(count);
    for (size_t i = all ? 0 : row; i < (all ? count : row + 1); ++i) {
        set_value(raw, column, count, i, value);
    }
}

std::string forge_chunk(const Database& database, Dice& dice) {
    const int64_t id = pick_chunk(database, dice);
    const auto where = fmt::format("FROM allocation_chunk WHERE id = {}", id);
    Bytes packed = database.blob("SELECT data " + where);
    Bytes raw = decompress(packed);
    if (raw.empty()) {
        return {};
    }
    std::string change = "forged columns";
    if (dice.one_in(5)) {
        packed = flip_bytes(packed, dice.bits()).bytes;
        change = "flipped bytes";
    } else if (dice.one_in(5)) {
        packed = compress(flip_bytes(raw, dice.bits()).bytes);
        change = "flipped content";
    } else {
        const auto count =
            static_cast<size_t>(std::clamp<int64_t>(database.integer("SELECT count " + where), 0, 1 << 16));
        for (uint64_t times = 1 + dice.below(3); times > 0; --times) {
            forge_columns(raw, count, dice);
        }
        packed = compress(raw);
    }
    database.run(fmt::format("UPDATE allocation_chunk SET data = ?1 WHERE id = {}", id), packed);
    return fmt::format("chunk {} with {}", id, change);
}

std::string overlap_chunks(const Database& database, Dice& dice) {
    const int64_t id = pick_chunk(database, dice);
    const int64_t shift = dice.pick<int64_t>({0, 1, -1, 100});
    const bool added = dice.one_in(2);
    if (added) {
        database.run(
            fmt::format("INSERT INTO allocation_chunk SELECT {} + id, device, first + {}, count, data FROM "
                        "allocation_chunk WHERE id = {}",
                        dice.pick({1, 1000, -1000}), shift, id));
    } else {
        database.run(fmt::format("UPDATE allocation_chunk SET first = first + {} WHERE id = {}", shift, id));
    }
    return fmt::format("chunk {} {} {} rows later", id, added ? "again" : "moved", shift);
}

}  // namespace tidemark::hostile
