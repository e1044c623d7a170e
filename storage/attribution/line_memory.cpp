// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/line_memory.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "storage/attribution/call_tree.h"
#include "storage/replay/active_walk.h"

namespace tidemark {
namespace {

/// A frame without a file or a line is not a place in a source.
bool is_source_line(const StackTable& stacks, FrameId frame) {
    return is_located(stacks.role(frame)) && stacks.frame(frame).file != 0 && stacks.frame(frame).line > 0;
}

/// Numbers the lines and files of all frames.
class LineNumbers {
public:
    static constexpr uint32_t none = UINT32_MAX;

    struct Line {
        uint32_t file = 0;  ///< position in files()
        LineMemory memory;
    };

    explicit LineNumbers(const StackTable& stacks) : line_of_frame_(stacks.frame_count(), none) {
        std::unordered_map<StringId, uint32_t> files;
        std::unordered_map<uint64_t, uint32_t> lines;
        for (FrameId id = 1; id < stacks.frame_count(); ++id) {
            if (!is_source_line(stacks, id)) {
                continue;
            }
            const Frame& frame = stacks.frame(id);
            const auto [file, is_new_file] = files.try_emplace(frame.file, static_cast<uint32_t>(files_.size()));
            if (is_new_file) {
                files_.push_back({frame.file, false, {}, {}});
            }
            files_[file->second].is_own_code |= is_own_code(stacks.role(id));
            const uint64_t key = uint64_t{frame.file} << 32 | static_cast<uint32_t>(frame.line);
            const auto [line, is_new_line] = lines.try_emplace(key, static_cast<uint32_t>(lines_.size()));
            if (is_new_line) {
                lines_.push_back({file->second, {frame.line, frame.function, {}}});
            }
            line_of_frame_[id] = line->second;
        }
    }

    uint32_t line_of(FrameId frame) const { return line_of_frame_[frame]; }
    std::vector<Line>& lines() { return lines_; }
    std::vector<FileMemory>& files() { return files_; }

private:
    std::vector<uint32_t> line_of_frame_;
    std::vector<Line> lines_;
    std::vector<FileMemory> files_;
};

/// Adds up the allocations of each stack. `self` is left to the lines: it is `active` of one of them.
std::vector<LineBytes> bytes_by_stack(const Trace& trace, const DeviceHistory& device, const AliveIndex& live,
                                      const LineMemoryRequest& request) {
    const Allocations& all = device.allocations;
    std::vector<LineBytes> stacks(trace.stacks.stack_count());
    ActiveWalk walk(device, live);
    walk.for_each_active(request.point, [&](const ActiveAllocation& active) {
        stacks[all.stack[active.allocation]].active += all.block_size[active.allocation];
    });
    walk.for_each_active(request.peak, [&](const ActiveAllocation& active) {
        stacks[all.stack[active.allocation]].peak += all.block_size[active.allocation];
    });
    const auto [first, last] = request.range.value_or(std::pair(before_history, never));
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const bool is_counted = first <= all.alloc_event[a] && all.alloc_event[a] < last;
        LineBytes& bytes = stacks[all.stack[a]];
        bytes.allocated += is_counted ? all.block_size[a] : 0;
        bytes.allocations += is_counted ? 1 : 0;
    }
    for (const AllocationIndex a : request.leaked) {
        stacks[all.stack[a]].leaked += all.block_size[a];
    }
    return stacks;
}

/// Adds the bytes of stacks to their lines and files.
class LineSums {
public:
    LineSums(const StackTable& stacks, LineNumbers& numbers)
        : stacks_(stacks), numbers_(numbers), line_seen_(numbers.lines().size()), file_seen_(numbers.files().size()) {}

    void add(StackId stack, const LineBytes& bytes) {
        const FrameId own = own_line(stacks_, stack);
        const uint32_t own_number = own == 0 ? LineNumbers::none : numbers_.line_of(own);
        for (StackId s = stack; s != 0; s = stacks_.stack(s).caller) {
            const uint32_t line = numbers_.line_of(stacks_.stack(s).frame);
            if (line == LineNumbers::none || std::exchange(line_seen_[line], stack) == stack) {
                continue;
            }
            LineNumbers::Line& sums = numbers_.lines()[line];
            FileMemory& file = numbers_.files()[sums.file];
            sums.memory.bytes += bytes;
            sums.memory.bytes.self += line == own_number ? bytes.active : 0;
            file.total.self += line == own_number ? bytes.active : 0;
            if (std::exchange(file_seen_[sums.file], stack) != stack) {
                file.total += bytes;
            }
        }
    }

private:
    const StackTable& stacks_;
    LineNumbers& numbers_;
    std::vector<StackId> line_seen_, file_seen_;  ///< the stack that was added to it last; 0: none
};

/// Returns the files with lines that account for any memory.
std::vector<FileMemory> files_with_memory(LineNumbers& numbers) {
    for (const LineNumbers::Line& line : numbers.lines()) {
        if (line.memory.bytes != LineBytes{}) {
            numbers.files()[line.file].lines.push_back(line.memory);
        }
    }
    std::vector<FileMemory> files = std::move(numbers.files());
    std::erase_if(files, [](const FileMemory& file) { return file.lines.empty(); });
    for (FileMemory& file : files) {
        std::sort(file.lines.begin(), file.lines.end(),
                  [](const LineMemory& a, const LineMemory& b) { return a.line < b.line; });
    }
    const auto rank = [](const FileMemory& file) {
        return std::tuple(file.is_own_code, file.total.active, file.total.peak, file.total.allocated);
    };
    std::stable_sort(files.begin(), files.end(),
                     [&](const FileMemory& a, const FileMemory& b) { return rank(a) > rank(b); });
    return files;
}

}  // namespace

LineBytes& LineBytes::operator+=(const LineBytes& other) {
    active += other.active;
    self += other.self;
    allocated += other.allocated;
    allocations += other.allocations;
    peak += other.peak;
    leaked += other.leaked;
    return *this;
}

const FileMemory* SourceMemory::find(StringId file) const {
    const auto found = std::find_if(files.begin(), files.end(), [&](const FileMemory& f) { return f.file == file; });
    return found == files.end() ? nullptr : &*found;
}

SourceMemory memory_by_line(const Trace& trace, const DeviceHistory& device, const AliveIndex& live,
                            const LineMemoryRequest& request) {
    const std::vector<LineBytes> stacks = bytes_by_stack(trace, device, live, request);
    LineNumbers numbers(trace.stacks);
    LineSums sums(trace.stacks, numbers);
    SourceMemory memory;
    for (StackId stack = 0; stack < stacks.size(); ++stack) {
        if (stacks[stack] != LineBytes{}) {
            memory.total += stacks[stack];
            sums.add(stack, stacks[stack]);
        }
    }
    memory.files = files_with_memory(numbers);
    for (const FileMemory& file : memory.files) {
        memory.total.self += file.total.self;
    }
    return memory;
}

std::vector<AllocationIndex> allocations_of_line(const Trace& trace, const DeviceHistory& device, StringId file,
                                                 int32_t line) {
    const StackTable& stacks = trace.stacks;
    std::vector<bool> has_line(stacks.stack_count());
    for (StackId stack = 1; stack < stacks.stack_count(); ++stack) {  // a caller is smaller than what it calls
        const FrameId frame = stacks.stack(stack).frame;
        has_line[stack] =
            has_line[stacks.stack(stack).caller] ||
            (stacks.frame(frame).file == file && stacks.frame(frame).line == line && is_source_line(stacks, frame));
    }
    std::vector<AllocationIndex> allocations;
    for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
        if (has_line[device.allocations.stack[a]]) {
            allocations.push_back(a);
        }
    }
    return allocations;
}

FrameId own_line(const StackTable& stacks, StackId stack) {
    for (; stack != 0; stack = stacks.stack(stack).caller) {
        const FrameId frame = stacks.stack(stack).frame;
        if (is_own_code(stacks.role(frame)) && is_source_line(stacks, frame)) {
            return frame;
        }
    }
    return 0;
}

FrameId own_line(const Trace& trace, const DeviceHistory& device, std::span<const AllocationIndex> allocations) {
    std::unordered_map<StackId, uint64_t> stacks;
    for (const AllocationIndex a : allocations) {
        stacks[device.allocations.stack[a]] += device.allocations.block_size[a];
    }
    std::unordered_map<FrameId, uint64_t> lines;
    FrameId largest = 0;
    for (const auto& [stack, bytes] : stacks) {
        if (const FrameId frame = own_line(trace.stacks, stack); frame != 0) {
            lines[frame] += bytes;
            const auto rank = [&](FrameId f) { return std::tuple(f != 0, f == 0 ? 0 : lines[f], -int64_t{f}); };
            largest = rank(frame) > rank(largest) ? frame : largest;
        }
    }
    return largest;
}

}  // namespace tidemark
