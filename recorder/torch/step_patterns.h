// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The steps of one device that the program repeats: the same allocations and frees, of the same sizes, on the same
// threads, in the same order, some of them compared by the lines of their stacks. The stack, op and phase that were
// recorded with an event of such a step hold for the event at the same place of a step that repeats it.
//
// Not thread-safe: used under the device's allocator lock. Does not call PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/core/mixed_hash.h"

namespace tidemark::plugin {

/// What the recorder found out about an event, in ids of the thread that had it.
struct EventOrigin {
    uint32_t stack = 0, op = 0;
    uint16_t stack_thread = 0, lines = 0;  ///< `lines`: a hash of those of the stack
    uint16_t pool = 0, context = 0;
    uint8_t phase = 0;
    uint8_t category = 0;   ///< which the memory gets, because its op is not observed; 0: none
    bool is_light = false;  ///< found in the step that is repeated

    /// Compares the lines of the stacks only: programs make modules anew in each step, such as losses.
    bool is_like(const EventOrigin& other) const {
        return lines == other.lines && op == other.op && stack_thread == other.stack_thread && pool == other.pool &&
               context == other.context && phase == other.phase;
    }
};

/// What the allocator says about an event. Two events with the same numbers are alike.
struct EventShape {
    uint8_t action = 0;
    uint16_t thread = 0;  ///< serial of its ring
    uint64_t size = 0, stream = 0, metadata = 0;
    int64_t change = 0;  ///< of the allocated bytes
    uint16_t lines = 0;  ///< of its stack, if compares_lines(); else 0
};

class StepPatterns {
public:
    /// Forgets everything: ids of another recording would mean something else.
    void clear() { *this = {}; }

    /// Returns whether the next event is one of those whose lines are compared: two calls from different lines of the
    /// program may do the same work. To compare all would make a light step a heavy one.
    bool compares_lines() const { return position_ % events_per_comparison == 0; }
    /// Adds the next event of the step, and its origin.
    void add(const EventShape& shape, const EventOrigin& origin);
    /// Adds the next event, and returns its origin in the known step that begins like this one. Returns nullptr, and
    /// does not add the event, if there is none. Then add() follows.
    const EventOrigin* expect(const EventShape& shape) {
        const uint64_t prefix = recorder::mixed(prefix_, hash_of(shape));
        if (rest_.prefix == rest_.end || *rest_.prefix != prefix) [[unlikely]] {
            if (!expect_another(prefix)) {
                return nullptr;
            }
        }
        is_as_expected_ = true;
        prefix_ = prefix;
        change_ += shape.change;
        ++position_;
        ++rest_.prefix;
        return rest_.origin++;
    }
    /// Marks the step as one that repeats none, because it has another kind of event.
    void set_unlike() {
        is_unlike_ = true;
        rest_ = {};
    }

    /// Ends the step. Returns whether it repeats a known step.
    bool end_step();
    /// Returns how many steps before this one, in a row, repeated known steps.
    int repeats() const { return repeats_; }

private:
    static constexpr size_t none = SIZE_MAX;
    static constexpr size_t events_per_comparison = 64;

    struct Step {
        std::vector<uint64_t> prefixes;  ///< per event, the hash of the shapes up to there
        std::vector<EventOrigin> origins;
        size_t next = none;     ///< index of the step that came after it the last time
        uint64_t last_use = 0;  ///< number of the last step that was like it

        bool has(size_t position, uint64_t prefix) const {
            return position < prefixes.size() && prefixes[position] == prefix;
        }
    };

    /// The events of the expected step that come next; none if this step is not as expected.
    struct Rest {
        const uint64_t *prefix = nullptr, *end = nullptr;
        const EventOrigin* origin = nullptr;
    };

    static uint64_t hash_of(const EventShape& shape) {
        const uint64_t hash =
            recorder::mixed(shape.stream, uint64_t{shape.lines} << 32 | uint64_t{shape.action} << 16 | shape.thread);
        return recorder::mixed(hash ^ shape.metadata, shape.size);
    }
    bool expect_another(uint64_t prefix);
    void set_expected(size_t step);
    size_t find_beginning(uint64_t prefix) const;
    size_t find_whole() const;
    bool has_origins_of(const Step& known) const;
    void take_expected_part();
    size_t store();
    void begin_step_after(size_t step);

    std::vector<Step> known_;
    Step step_;                    ///< this one, unless all of its events were expected
    size_t expected_ = none;       ///< the known step that is expected, or that this one repeats so far
    Rest rest_;                    ///< of that step
    bool is_as_expected_ = false;  ///< all events of this step were, and are not in step_
    bool is_unlike_ = false;
    size_t position_ = 0;  ///< events of this step so far
    uint64_t prefix_ = 0;
    int64_t change_ = 0;  ///< of the allocated bytes in this step
    size_t last_ = none;  ///< the step before
    uint64_t steps_ = 0;
    int repeats_ = 0;
};

}  // namespace tidemark::plugin
