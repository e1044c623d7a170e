// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which op allocates or frees at which place of a backward pass or an optimizer step, as seen in observed ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recorder/core/mixed_hash.h"
#include "recorder/torch/forward_links.h"

namespace tidemark::plugin {

/// A place: the first allocation of a node, its second, its first free. In an optimizer step, which has no nodes, those
/// of a line of Python code.
struct EventPlace {
    static constexpr uint32_t no_node = UINT32_MAX;

    uint32_t node_type = no_node;  ///< its number (node_types.h)
    StackRef stack;                ///< of the op that created the node; else of the event
    uint8_t action = 0;            ///< of the event
    uint16_t position = 0;         ///< among the events of this action in this execution
};

/// Belongs to one thread.
class LearnedOps {
public:
    struct Known {
        bool is_known = false;
        uint32_t op = 0;  ///< 0: none, or it changes
    };

    void learn(const EventPlace& place, uint32_t op) {
        if (by_stack_.size() >= most_places) {
            clear();
        }
        by_stack_.learn(key_of(place, of_stack(place)), op);
        by_lines_.learn(key_of(place, of_lines(place)), op);
    }

    /// If the stack is new, as it is where a program creates a module in each step, its lines decide.
    Known find(const EventPlace& place) {
        const Known known = by_stack_.find(key_of(place, of_stack(place)));
        return known.is_known ? known : by_lines_.find(key_of(place, of_lines(place)));
    }

    void clear() {
        by_stack_ = {};
        by_lines_ = {};
    }

private:
    static constexpr size_t most_places = size_t{1} << 16;

    /// Work repeats, so the next place is most often the one that was learned after the last one: this finds it without
    /// a search through memory that no cache holds.
    class Table {
    public:
        size_t size() const { return ops_.size(); }

        void learn(uint64_t key, uint32_t op) {
            const auto [known, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(ops_.size()));
            if (is_new) {
                ops_.push_back({key, op, 0});
                return;
            }
            Entry& entry = ops_[known->second];
            if (entry.op != op && entry.changes <= most_changes) {
                ++entry.changes;
                entry.op = entry.changes <= most_changes ? op : 0;
            }
        }

        Known find(uint64_t key) {
            if (next_ >= ops_.size() || ops_[next_].key != key) {
                const auto known = numbers_.find(key);
                if (known == numbers_.end()) {
                    return {};
                }
                next_ = known->second;
            }
            return {true, ops_[next_++].op};
        }

    private:
        struct Entry {
            uint64_t key;
            uint32_t op;
            uint32_t changes;
        };
        /// The first execution of an op allocates its workspaces, too.
        static constexpr uint32_t most_changes = 1;

        std::vector<Entry> ops_;
        std::unordered_map<uint64_t, uint32_t> numbers_;  ///< by key
        size_t next_ = 0;
    };

    static uint64_t of_stack(const EventPlace& place) { return uint64_t{place.stack.thread} << 32 | place.stack.id; }
    static uint64_t of_lines(const EventPlace& place) { return place.stack.lines; }

    /// Two of 2^16 places have the same key once in 2^33 programs.
    static uint64_t key_of(const EventPlace& place, uint64_t stack) {
        return recorder::mixed(recorder::mixed(place.node_type, stack), uint64_t{place.position} << 8 | place.action);
    }

    Table by_stack_, by_lines_;
};

}  // namespace tidemark::plugin
