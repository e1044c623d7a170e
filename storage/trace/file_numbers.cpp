// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/file_numbers.h"

#include <algorithm>

namespace tidemark {

FileNumbers::FileNumbers(std::span<const FileRange> incomplete, std::span<const FileEvent> left) {
    FileEvent complete_from = 0;
    auto next = left.begin();
    for (const FileRange& range : incomplete) {
        add({complete_from, range.begin});
        for (; next != left.end() && *next < range.end; ++next) {
            add({*next, *next + 1});
        }
        complete_from = range.end;
    }
    if (!incomplete.empty()) {
        add({complete_from, never_in_file});
    }
}

void FileNumbers::add(FileRange range) {
    if (range.begin >= range.end) {
        return;
    }
    const EventNumber first = runs_.empty() ? 0 : runs_.back().end;
    const FileEvent length = std::min<FileEvent>(range.end - range.begin, never - 1 - first);
    const auto end = static_cast<EventNumber>(first + length);
    if (!runs_.empty() && runs_.back().in_file + (runs_.back().end - runs_.back().first) == range.begin) {
        runs_.back().end = end;
    } else {
        runs_.push_back({range.begin, first, end});
    }
}

std::optional<EventNumber> FileNumbers::find(FileEvent number) const {
    if (number < 0 || (runs_.empty() && number >= never)) {
        return std::nullopt;
    }
    if (runs_.empty()) {
        return static_cast<EventNumber>(number);
    }
    const auto after =
        std::partition_point(runs_.begin(), runs_.end(), [number](const Run& run) { return run.in_file <= number; });
    if (after == runs_.begin()) {
        return std::nullopt;
    }
    const Run& run = *std::prev(after);
    const FileEvent offset = number - run.in_file;
    return offset < run.end - run.first ? std::optional(static_cast<EventNumber>(run.first + offset)) : std::nullopt;
}

EventNumber FileNumbers::state(FileEvent number) const {
    number = std::max<FileEvent>(number, 0);
    if (runs_.empty()) {
        return static_cast<EventNumber>(std::min<FileEvent>(number, never));
    }
    const auto after =
        std::partition_point(runs_.begin(), runs_.end(), [number](const Run& run) { return run.in_file < number; });
    if (after == runs_.begin()) {
        return 0;
    }
    const Run& run = *std::prev(after);
    return static_cast<EventNumber>(std::min<FileEvent>(run.first + (number - run.in_file), run.end));
}

FileEvent FileNumbers::in_file(EventNumber event) const {
    if (runs_.empty()) {
        return event;
    }
    const auto after =
        std::partition_point(runs_.begin(), runs_.end(), [event](const Run& run) { return run.first <= event; });
    const Run& run = after == runs_.begin() ? *after : *std::prev(after);
    return run.in_file + (event - run.first);
}

}  // namespace tidemark
