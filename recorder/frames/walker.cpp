// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/frames/walker.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recorder/core/per_thread.h"
#include "recorder/frames/layouts.h"
#include "recorder/frames/line_table.h"
#include "recorder/frames/number_table.h"
#include "recorder/frames/object_identities.h"
#include "recorder/frames/python_text.h"

namespace tidemark::frames {

namespace {

constexpr int deepest_stack = 256;

using ThreadStateOf = void* (*)();

// A process has one interpreter: its layout, and its function that returns the state of this thread.
const Layout* layout = nullptr;
ThreadStateOf this_thread_state = nullptr;
const tidemark_api* api = nullptr;
uint64_t module_call_code = 0;
std::string hidden_folder;

ObjectIdentities identities;

std::mutex module_mutex;
std::vector<uint64_t> new_modules;

struct RawFrame {
    uint64_t code;
    uint64_t instruction;  ///< its address; number_instruction() where frames are objects
    uint64_t module;
};

constexpr unsigned number_bits = 20;  ///< more instructions than a function has

/// Identifies an instruction by its code object, whose address is below 2^48 and a multiple of 16, and its number.
uint64_t number_instruction(uint64_t code, int32_t number) {
    return code >> 4 << number_bits | static_cast<uint32_t>(number) % (1u << number_bits);
}

/// Returns how many instructions come before.
int64_t instructions_before(const Layout& l, uint64_t code, uint64_t instruction) {
    return l.frames_are_objects ? static_cast<int64_t>(instruction % (1u << number_bits))
                                : static_cast<int64_t>(instruction - (code + l.code_bytes)) / 2;
}

uint64_t instruction_of(const Layout& l, uint64_t frame, uint64_t code) {
    return l.frames_are_objects ? number_instruction(code, int_at(frame, l.frame_instruction))
                                : word_at(frame, l.frame_instruction);
}

uint64_t innermost_frame(const Layout& l) {
    void* state = this_thread_state();
    if (state == nullptr) {
        return 0;
    }
    uint64_t frame = word_at(reinterpret_cast<uint64_t>(state), l.thread_frame);
    return l.has_cframe && frame != 0 ? word_at(frame, l.cframe_frame) : frame;
}

/// Returns false for the interpreter's own frames and for functions that have not started (_PyFrame_IsIncomplete).
bool has_started(const Layout& l, uint8_t owner, uint64_t code, uint64_t instruction, int32_t first_traceable) {
    return owner < l.foreign_owner && (owner == owned_by_generator ||
                                       instruction >= code + l.code_bytes + 2 * static_cast<uint64_t>(first_traceable));
}

/// Frames that are objects have no owner: none of them is foreign.
uint8_t owner_of(const Layout& l, uint64_t frame) {
    return l.frames_are_objects ? 0 : *reinterpret_cast<const uint8_t*>(frame + l.frame_owner);
}

bool has_started(const Layout& l, uint64_t frame) {
    if (l.frames_are_objects) {
        return int_at(frame, l.frame_instruction) >= 0;
    }
    const uint8_t owner = owner_of(l, frame);
    if (owner >= l.foreign_owner) {
        return false;
    }
    const uint64_t code = untagged(l, word_at(frame, l.frame_code));
    return has_started(l, owner, code, word_at(frame, l.frame_instruction), int_at(code, l.code_first_traceable()));
}

RawFrame frame_at(const Layout& l, uint64_t at) {
    const uint64_t code = untagged(l, word_at(at, l.frame_code));
    RawFrame frame{code, instruction_of(l, at, code), 0};
    frame.module = frame.code == module_call_code ? untagged(l, word_at(at, l.frame_locals)) : 0;
    return frame;
}

/// Calls `visit(frame)` for the Python frames of this thread, innermost first. Returns their number.
template <class Visit>
int visit_frames(Visit&& visit) {
    const Layout l = *layout;  // a copy, so that it is not read again for each frame
    int count = 0;
    for (uint64_t at = innermost_frame(l); at != 0 && count < deepest_stack; at = word_at(at, l.frame_previous)) {
        // Frames that have called others have started. To ask them would read their code objects as well.
        if (count == 0 ? !has_started(l, at) : owner_of(l, at) >= l.foreign_owner) {
            continue;
        }
        visit(frame_at(l, at));
        ++count;
    }
    return count;
}

/// The stack of this thread.
struct StackHash {
    int frames = 0;
    uint64_t hash = 0;  ///< of instructions and modules
};

/// Stacks repeat, so most walks need the hash alone.
StackHash hash_stack() {
    uint64_t code = 0, modules = 0;
    const int frames = visit_frames([&](const RawFrame& frame) {
        // Most of a frame's hash does not depend on the frame before, so the CPU computes several in parallel.
        const uint64_t own = frame.instruction * 0x9fb21c651e98df25u;
        code = code * 0xff51afd7ed558ccdu + (own ^ (own >> 29));
        modules = modules * 0xd6e8feb86659fd93u + frame.module;
    });
    const uint64_t all = ((code ^ (code >> 32)) ^ std::rotl(modules, 17)) * 0x9fb21c651e98df25u;
    return {frames, all ^ (all >> 32)};
}

struct Place {
    std::string function, file;
    int line = 0;
};

Place place_of(const Layout& l, uint64_t code, uint64_t instruction) {
    const uint64_t lines = word_at(code, l.code_lines);
    const std::span<const uint8_t> table(reinterpret_cast<const uint8_t*>(lines + bytes_data),
                                         word_at(lines, bytes_size));
    const int first_line = int_at(code, l.code_first_line);
    const int64_t offset = instructions_before(l, code, instruction);
    const int line = (l.frames_are_objects ? line_of_3_10 : line_of)(table, first_line, offset);
    return {text_of(l, word_at(code, l.code_name)), text_of(l, word_at(code, l.code_file)),
            line == 0 ? first_line : line};
}

/// The stacks that one thread has sent. Ids are odd when a module is on the stack, else even.
class ReportedStacks {
public:
    /// Returns the id of this thread's stack, which has this hash; 0 if it could not be sent.
    uint32_t number(tidemark_ring* ring, uint64_t hash) {
        const uint32_t generation = identities.generation();
        if (ring != ring_ || generation != generation_ || ring->serial != serial_) {
            restart(ring, generation);
        }
        const uint32_t known = numbers_.find(hash);
        return known != 0 ? known : report(hash);
    }

    /// Returns the hash of the lines of a stack. Instructions would not do: the interpreter replaces those that run
    /// often, and a frame that waits for a call is then at another one of the same line.
    uint16_t lines(uint32_t number) const { return lines_[number >> 1]; }

private:
    /// What is sent of a frame, nothing if it belongs to this package.
    struct Frame {
        std::optional<tidemark_frame> reported;
        uint64_t line = 0;  ///< hash of function, file and line
    };

    /// Ids are never reused within a ring, so earlier ones stay valid.
    void restart(tidemark_ring* ring, uint32_t generation) {
        if (ring != ring_ || ring->serial != serial_) {
            last_number_ = 0;
            lines_.assign(1, 0);
        }
        ring_ = ring;
        serial_ = ring->serial;
        generation_ = generation;
        numbers_.clear();
        frames_.clear();
        modules_.clear();
    }

    uint32_t report(uint64_t hash) {
        std::vector<tidemark_frame> frames;
        std::vector<uint64_t> modules;
        uint64_t lines = 0;
        visit_frames([&](const RawFrame& raw) {
            if (raw.module != 0) {
                modules.push_back(raw.module);
            }
            if (const Frame& known = frame(raw); known.reported) {
                frames.push_back(*known.reported);
                frames.back().module = raw.module;
                lines = (lines ^ known.line) * 0x9fb21c651e98df25u;
                lines ^= lines >> 32;
            }
        });
        tidemark_record record{};
        record.kind = TIDEMARK_STACK;
        record.define.id = (last_number_ + 1) << 1 | (modules.empty() ? 0 : 1);
        const size_t bytes = frames.size() * sizeof(tidemark_frame);
        if (api->push(ring_, &record, frames.data(), static_cast<uint32_t>(bytes)) == 0) {
            return 0;
        }
        ++last_number_;
        lines_.push_back(static_cast<uint16_t>(lines >> 16 ^ lines));
        numbers_.add(hash, record.define.id);
        note_modules(modules);
        return record.define.id;
    }

    const Frame& frame(const RawFrame& raw) {
        auto known = frames_.find(raw.instruction);
        if (known == frames_.end()) {
            identities.watch(raw.code);
            known = frames_.emplace(raw.instruction, report(place_of(*layout, raw.code, raw.instruction))).first;
        }
        return known->second;
    }

    Frame report(const Place& place) {
        if (!hidden_folder.empty() && place.file.starts_with(hidden_folder)) {
            return {};
        }
        const std::hash<std::string_view> hash;
        return {tidemark_frame{api->text(ring_, place.function.data(), place.function.size()),
                               api->text(ring_, place.file.data(), place.file.size()),
                               static_cast<uint32_t>(place.line), 0, 0},
                (hash(place.function) * 31 + hash(place.file)) * 31 + static_cast<uint64_t>(place.line)};
    }

    void note_modules(const std::vector<uint64_t>& modules) {
        if (modules.empty()) {
            return;
        }
        const std::lock_guard lock(module_mutex);
        std::copy_if(modules.begin(), modules.end(), std::back_inserter(new_modules),
                     [&](uint64_t module) { return modules_.insert(module).second; });
    }

    tidemark_ring* ring_ = nullptr;
    uint16_t serial_ = 0;
    uint32_t generation_ = 0, last_number_ = 0;
    NumberTable numbers_;
    std::vector<uint16_t> lines_{0};              ///< by number
    std::unordered_map<uint64_t, Frame> frames_;  ///< by instruction
    std::unordered_set<uint64_t> modules_;
};

uint32_t stack_of_this_thread(tidemark_ring* ring, uint16_t* lines) {
    const StackHash stack = hash_stack();
    if (stack.frames == 0) {
        return 0;
    }
    auto& reported = recorder::PerThread<ReportedStacks>::here();
    const uint32_t number = reported.number(ring, stack.hash);
    if (lines != nullptr) {
        *lines = reported.lines(number);
    }
    return number;
}

/// Reads memory that may not exist: a wrong layout must not crash the program.
bool read_safely(uint64_t address, void* into, size_t bytes) {
    const iovec local{into, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool safe_word(uint64_t address, uint64_t& word) { return read_safely(address, &word, sizeof word); }

struct SafeFrame {
    uint64_t code = 0;
    bool has_started = false;
};

/// Reads with safe reads; nothing if the memory does not exist.
std::optional<SafeFrame> safe_frame(const Layout& l, uint64_t frame) {
    uint64_t code = 0, instruction = 0;
    uint8_t owner = 0;
    int32_t number = 0;
    if (!safe_word(frame + l.frame_code, code)) {
        return std::nullopt;
    }
    code = untagged(l, code);
    if (l.frames_are_objects) {
        return read_safely(frame + l.frame_instruction, &number, sizeof number)
                   ? std::optional(SafeFrame{code, number >= 0})
                   : std::nullopt;
    }
    if (!read_safely(frame + l.frame_owner, &owner, 1) || !safe_word(frame + l.frame_instruction, instruction) ||
        (owner < l.foreign_owner && !read_safely(code + l.code_first_traceable(), &number, sizeof number))) {
        return std::nullopt;
    }
    return SafeFrame{code, has_started(l, owner, code, instruction, number)};
}

/// Follows the frames with safe reads. Returns true if the innermost Python frames run the known code.
bool frames_match(const Layout& l, const tidemark_known_frame* known, int count) {
    uint64_t frame = 0;
    if (!safe_word(reinterpret_cast<uint64_t>(this_thread_state()) + l.thread_frame, frame) ||
        (l.has_cframe && !safe_word(frame + l.cframe_frame, frame))) {
        return false;
    }
    for (int i = 0; i < count;) {
        const std::optional<SafeFrame> seen = safe_frame(l, frame);
        if (!seen || (seen->has_started && seen->code != known[i++].code)) {
            return false;
        }
        if (!safe_word(frame + l.frame_previous, frame)) {
            return false;
        }
    }
    return true;
}

/// Compares functions, files and lines. Requires frames_match(), since it reads directly.
bool places_match(const Layout& l, const tidemark_known_frame* known, int count) {
    uint64_t frame = innermost_frame(l);
    for (int i = 0; i < count; frame = word_at(frame, l.frame_previous)) {
        if (!has_started(l, frame)) {
            continue;
        }
        uint64_t probe = 0;
        for (const size_t offset : {l.code_lines, l.code_name, l.code_file}) {
            uint64_t object = 0;
            if (!safe_word(known[i].code + offset, object) || !safe_word(object + text_state, probe)) {
                return false;
            }
        }
        const Place place = place_of(l, known[i].code, instruction_of(l, frame, known[i].code));
        if (place.function != known[i].function || place.file != known[i].file || place.line != known[i].line) {
            return false;
        }
        ++i;
    }
    return true;
}

}  // namespace

}  // namespace tidemark::frames

using namespace tidemark::frames;

extern "C" {

TIDEMARK_EXPORT int tidemark_frames_prepare(int major, int minor, const tidemark_known_frame* known, int count,
                                            char* error, size_t error_size) {
    const Layout* candidate = layout_of(major, minor);
    this_thread_state = reinterpret_cast<ThreadStateOf>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
    if (candidate == nullptr || this_thread_state == nullptr) {
        std::snprintf(error, error_size, "the frames of Python %d.%d cannot be read (3.10 to 3.14 can).", major, minor);
        return 0;
    }
    if (!frames_match(*candidate, known, count) || !places_match(*candidate, known, count)) {
        std::snprintf(error, error_size, "this build of Python %d.%d has another frame layout.", major, minor);
        return 0;
    }
    layout = candidate;
    identities.watch_code_objects();
    return 1;
}

TIDEMARK_EXPORT int tidemark_frames_walk_for(const tidemark_api* core, uint64_t module_call, const char* hidden) {
    if (layout == nullptr) {
        return 0;
    }
    api = core;
    module_call_code = module_call;
    hidden_folder = hidden == nullptr ? "" : hidden;
    api->set_stack_walker(stack_of_this_thread);
    return 1;
}

TIDEMARK_EXPORT void tidemark_frames_module_destroyed(void) { identities.start_generation(); }

TIDEMARK_EXPORT int tidemark_frames_new_modules(uint64_t* addresses, int capacity) {
    const std::lock_guard lock(module_mutex);
    const int count = std::min(capacity, static_cast<int>(new_modules.size()));
    std::copy_n(new_modules.begin(), count, addresses);
    new_modules.erase(new_modules.begin(), new_modules.begin() + count);
    return count;
}

}  // extern "C"
