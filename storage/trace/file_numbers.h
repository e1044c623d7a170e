// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The numbers of one device's events in the file. They are equal to those in memory unless details were deleted to keep
// the file small: then the numbers of the deleted events are missing in the file, but not in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/trace/vocabulary.h"

namespace tidemark {

/// Numbers of events in a file, [begin, end).
struct FileRange {
    FileEvent begin = 0, end = 0;
};

class FileNumbers {
public:
    /// Nothing was deleted.
    FileNumbers() = default;
    /// `incomplete`: by number, without overlaps. `left`: the events in them that still have rows, by number, each
    /// once.
    FileNumbers(std::span<const FileRange> incomplete, std::span<const FileEvent> left);

    bool are_equal() const { return runs_.empty(); }
    /// Returns the event with this number in the file; nothing if it was deleted, or if the number is too high for the
    /// memory.
    std::optional<EventNumber> find(FileEvent number) const;
    /// Returns the state after the first `number` events of the file.
    EventNumber state(FileEvent number) const;
    FileEvent in_file(EventNumber event) const;

private:
    /// Events with consecutive numbers, up to the next run.
    struct Run {
        FileEvent in_file;
        EventNumber first, end;
    };
    void add(FileRange range);

    std::vector<Run> runs_;  ///< by number; the last one has no end
};

}  // namespace tidemark
