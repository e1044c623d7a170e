// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which op allocates or frees at which place of a forward pass, a backward pass or an optimizer step, as seen in
// observed ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recorder/core/mixed_hash.h"
#include "recorder/torch/forward_links.h"

namespace tidemark::plugin {

/// A place: the first allocation of a node, its second, its first free. In a forward pass or an optimizer step, in
/// which no node is executed, those of a line of Python code.
struct EventPlace {
    static constexpr uint32_t no_node = UINT32_MAX;

    uint32_t node_type = no_node;  ///< its number (node_types.h)
    StackRef stack;                ///< of the op that created the node; else of the event
    uint8_t action = 0;            ///< of the event
    uint16_t position = 0;         ///< among the events of this action in this execution
};

/// The keys of a place by its stack and by the lines of that. If the stack is new, as it is where a program creates a
/// module in each step, its lines decide. Two of 2^16 places have the same key once in 2^33 programs.
struct PlaceKeys {
    uint64_t stack = 0, lines = 0;

    static PlaceKeys of(const EventPlace& place) {
        const uint64_t event = uint64_t{place.position} << 8 | place.action;
        const auto key = [&](uint64_t stack) {
            return recorder::mixed(recorder::mixed(place.node_type, stack), event);
        };
        return {key(uint64_t{place.stack.thread} << 32 | place.stack.id), key(place.stack.lines)};
    }
};

/// Belongs to one thread.
class LearnedOps {
public:
    struct Known {
        bool is_known = false;
        uint32_t op = 0;       ///< 0: none, or it changes
        uint8_t category = 0;  ///< of what is allocated there; that of label() after the last learn(); 0: none
    };

    void learn(const PlaceKeys& place, uint32_t op) {
        if (by_stack_.size() >= most_places) {
            clear();
        }
        by_stack_.learn(place.stack, op);
        by_lines_.learn(place.lines, op);
    }

    /// Stores the category of the memory that the event learned last at this place allocated.
    void label(const PlaceKeys& place, uint8_t category) {
        by_stack_.label(place.stack, category);
        by_lines_.label(place.lines, category);
    }

    Known find(const PlaceKeys& place) {
        const Known known = by_stack_.find(place.stack);
        return known.is_known ? known : by_lines_.find(place.lines);
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
                ops_.push_back({key, op, 0, 0});
                return;
            }
            Entry& entry = ops_[known->second];
            entry.category = 0;
            if (entry.op != op && entry.changes <= most_changes) {
                ++entry.changes;
                entry.op = entry.changes <= most_changes ? op : 0;
            }
        }

        void label(uint64_t key, uint8_t category) {
            if (const auto known = numbers_.find(key); known != numbers_.end()) {
                ops_[known->second].category = category;
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
            const Entry& entry = ops_[next_++];
            return {true, entry.op, entry.category};
        }

    private:
        struct Entry {
            uint64_t key;
            uint32_t op;
            uint16_t changes;
            uint8_t category;
        };
        /// The first execution of an op allocates its workspaces, too.
        static constexpr uint16_t most_changes = 1;

        std::vector<Entry> ops_;
        std::unordered_map<uint64_t, uint32_t> numbers_;  ///< by key
        size_t next_ = 0;
    };

    Table by_stack_, by_lines_;
};

}  // namespace tidemark::plugin
