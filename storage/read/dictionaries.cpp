// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/dictionaries.h"

#include "storage/trace/limits.h"

namespace tidemark {

Status Dictionaries::read(RowSource& source, Trace& trace, int64_t file_bytes) {
    most_copied_bytes_ = most_copied_text_in(file_bytes);
    TIDEMARK_TRY(read_strings(source, trace.stacks));
    TIDEMARK_TRY(read_frames(source, trace.stacks));
    TIDEMARK_TRY(read_stacks(source, trace.stacks));
    trace.streams.clear();
    TIDEMARK_TRY(source.each("SELECT id, handle, coalesce(name, '') FROM stream ORDER BY id", [&](Statement& row) {
        trace.streams.push_back({static_cast<uint64_t>(row.integer(1)), std::string(row.text(2))});
        return row.integer(0) == static_cast<int64_t>(trace.streams.size()) - 1;
    }));
    trace.pools.clear();
    TIDEMARK_TRY(source.each("SELECT id, owner_first, owner_second FROM pool ORDER BY id", [&](Statement& row) {
        trace.pools.push_back({{row.integer(1), row.integer(2)}});
        return row.integer(0) == static_cast<int64_t>(trace.pools.size()) - 1;
    }));
    return read_origins(source, trace);
}

std::optional<StackId> Dictionaries::stack(int64_t id) const {
    if (id < 0 || id >= static_cast<int64_t>(stacks_.size())) {
        return std::nullopt;
    }
    return static_cast<StackId>(id);
}

const std::string& Dictionaries::text(const Trace& trace, int64_t id) const {
    const bool known = id >= 1 && id < static_cast<int64_t>(strings_.size());
    return trace.stacks.string(known ? strings_[static_cast<size_t>(id)] : 0);
}

std::optional<std::string> Dictionaries::copy(const Trace& trace, int64_t id) {
    const std::string& found = text(trace, id);
    copied_bytes_ += static_cast<int64_t>(found.size());
    return copied_bytes_ <= most_copied_bytes_ ? std::optional(found) : std::nullopt;
}

Status Dictionaries::read_strings(RowSource& source, StackTable& table) {
    const auto seen = static_cast<int64_t>(strings_.size()) - 1;
    return source.each("SELECT id, text FROM string WHERE id>? ORDER BY id", seen, [&](Statement& row) {
        strings_.push_back(table.intern(row.text(1)));
        return row.integer(0) == static_cast<int64_t>(strings_.size()) - 1;
    });
}

Status Dictionaries::read_frames(RowSource& source, StackTable& table) {
    const auto seen = static_cast<int64_t>(frames_.size()) - 1;
    return source.each("SELECT id, function, file, line FROM frame WHERE id>? ORDER BY id", seen, [&](Statement& row) {
        const int64_t function = row.integer(1), file = row.integer(2);
        const auto known = static_cast<int64_t>(strings_.size());
        if (row.integer(0) != static_cast<int64_t>(frames_.size()) || function < 0 || function >= known || file < 0 ||
            file >= known) {
            return false;
        }
        frames_.push_back(
            table.intern(Frame{strings_[static_cast<size_t>(function)], strings_[static_cast<size_t>(file)],
                               static_cast<int32_t>(row.integer(3))}));
        return true;
    });
}

Status Dictionaries::read_stacks(RowSource& source, StackTable& table) {
    const auto seen = static_cast<int64_t>(stacks_.size()) - 1;
    return source.each("SELECT id, caller, frame FROM stack WHERE id>? ORDER BY id", seen, [&](Statement& row) {
        const int64_t caller = row.integer(1), frame = row.integer(2);
        const auto next = static_cast<int64_t>(stacks_.size());
        if (row.integer(0) != next || caller < 0 || caller >= next || frame < 1 ||
            frame >= static_cast<int64_t>(frames_.size())) {
            return false;
        }
        stacks_.push_back(
            table.intern(StackEntry{stacks_[static_cast<size_t>(caller)], frames_[static_cast<size_t>(frame)]}));
        depths_.push_back(depths_[static_cast<size_t>(caller)] + 1);
        // A second row for the same stack would shift all later ids.
        return stacks_.back() == static_cast<StackId>(next) && depths_.back() <= most_frames_of_stack;
    });
}

std::optional<Origin> Dictionaries::copy_origin(const Trace& trace, const OriginRow& row) {
    auto op = copy(trace, row[0]), module = copy(trace, row[1]), phase = copy(trace, row[2]),
         compile_context = copy(trace, row[3]), user_metadata = copy(trace, row[4]);
    if (!op || !module || !phase || !compile_context || !user_metadata) {
        return std::nullopt;
    }
    return Origin{*std::move(op),
                  *std::move(module),
                  fact_from_word<Phase>(*phase),
                  *std::move(compile_context),
                  *std::move(user_metadata),
                  row[5]};
}

Status Dictionaries::read_origins(RowSource& source, Trace& trace) {
    trace.origins.resize(origins_.size() + 1);
    size_t at = 0;
    return source.each("SELECT id, op, module, phase, compile_context, user_metadata, thread FROM origin ORDER BY id",
                       [&](Statement& row) {
                           const OriginRow now{row.integer(1), row.integer(2), row.integer(3),
                                               row.integer(4), row.integer(5), row.integer(6)};
                           const bool is_new = at == origins_.size();
                           if (is_new || origins_[at] != now) {
                               origins_.resize(std::max(origins_.size(), at + 1));
                               trace.origins.resize(origins_.size() + 1);
                               origins_[at] = now;
                               auto origin = copy_origin(trace, now);
                               if (!origin) {
                                   return false;
                               }
                               trace.origins[at + 1] = *std::move(origin);
                           }
                           ++at;
                           return row.integer(0) == static_cast<int64_t>(at);
                       });
}

}  // namespace tidemark
