// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which op, with which stack and result, created a node of a forward pass, as seen in observed ones.
//
// The ops of a forward pass that repeats are not observed (repeated_work.h). Its nodes are found when their backward
// pass begins, with their edges and saved tensors. What only the op could tell is that of the node at the same place of
// an observed pass: the first one after the same event, the second one after it. Events are observed in all passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/core/mixed_hash.h"
#include "recorder/torch/forward_links.h"
#include "recorder/torch/learned_ops.h"
#include "recorder/torch/op_memory.h"

namespace tidemark::plugin {

/// Belongs to one thread. `node`: the sequence number of a node. The thread's counter is that of its next node.
class ForwardNodes {
public:
    struct Event {
        int64_t counter = 0;
        PlaceKeys place;
        uint64_t number = 0;  ///< in the order of its device
        DeviceAddress memory;
    };
    /// What the op knew when it ended.
    struct Made {
        uint32_t type = 0;  ///< number of the node's type (node_types.h)
        uint32_t op = 0;
        StackRef stack;
        std::optional<DeviceAddress> output;  ///< which the op allocated
        size_t events = 0;                    ///< of this pass, before the op ended; find() sets it
    };

    /// Begins a forward pass. Nothing is noted before.
    void begin(int64_t counter) {
        is_active_ = true;
        first_ = counter;
        events_.clear();
    }
    /// Ends the pass; none begins.
    void end() {
        is_active_ = false;
        events_.clear();
    }
    /// Ends the pass, and forgets what was learned.
    void clear() { *this = {}; }
    bool is_active() const { return is_active_; }
    /// Returns whether a node is of this pass.
    bool has(int64_t node) const { return is_active_ && node >= first_; }
    /// Returns whether nothing was created or noted since the begin.
    bool is_at_begin(int64_t counter) const { return is_active_ && counter == first_ && events_.empty(); }

    void add(const Event& event) {
        if (is_active_ && events_.size() < most_events) {
            events_.push_back(event);
        }
    }

    /// Stores what the op of a node knew, which has just ended.
    void learn(int64_t node, const Made& made) {
        if (!has(node)) {
            return;
        }
        if (learned_.size() >= most_nodes) {
            learned_.clear();
            by_stack_.clear();
            by_lines_.clear();
        }
        const size_t own = events_before(node);
        const PlaceKeys place = place_of(node, own);
        Learned learned{place.stack, made.type, made.op, made.stack, static_cast<uint32_t>(events_.size() - own)};
        for (size_t i = own; i < events_.size() && made.output; ++i) {
            if (events_[i].memory == *made.output) {
                learned.output = static_cast<uint32_t>(i - own);  // the last event is its allocation
            }
        }
        const auto [known, is_new] = by_stack_.try_emplace(place.stack, static_cast<uint32_t>(learned_.size()));
        by_lines_[place.lines] = known->second;
        if (is_new) {
            learned_.push_back(learned);
        } else {
            learned.next = learned_[known->second].next;
            learned_[known->second] = learned;
        }
    }

    /// Returns what the op of a node of this pass knew, if the node at its place was of the same type.
    std::optional<Made> find(int64_t node, uint32_t type) {
        if (!has(node)) {
            return std::nullopt;
        }
        const size_t own = events_before(node);
        const Learned* known = find(place_of(node, own));
        if (known == nullptr || known->type != type || own + known->events > events_.size()) {
            return std::nullopt;
        }
        Made made{known->type, known->op, known->stack, std::nullopt, own + known->events};
        if (known->output != none) {
            made.output = events_[own + known->output].memory;
        }
        return made;
    }

    /// Returns the number of the next event of a device after so many events of this pass; nothing if none of them was
    /// the device's.
    std::optional<uint64_t> next_event(size_t events, uint8_t device) const {
        for (size_t i = std::min(events, events_.size()); i-- > 0;) {
            if (events_[i].memory.device == device) {
                return events_[i].number + 1;
            }
        }
        return std::nullopt;
    }

private:
    static constexpr size_t most_events = size_t{1} << 20, most_nodes = size_t{1} << 18;
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr int near = 8;

    struct Learned {
        uint64_t place = 0;  ///< by its stack
        uint32_t type = 0, op = 0;
        StackRef stack;
        uint32_t events = 0;     ///< of this thread, from the node's creation to the end of its op
        uint32_t output = none;  ///< which of them allocated the output
        uint32_t next = none;    ///< which was found after this one, the last time
    };

    /// Returns how many events came before the node was created. Nodes are found in the order of their graph, so this
    /// searches near the last one first.
    size_t events_before(int64_t node) {
        size_t at = std::min(last_before_, events_.size());
        for (int steps = 0; steps < near && at > 0 && events_[at - 1].counter > node; ++steps) {
            --at;
        }
        for (int steps = 0; steps < near && at < events_.size() && events_[at].counter <= node; ++steps) {
            ++at;
        }
        const bool is_there =
            (at == 0 || events_[at - 1].counter <= node) && (at == events_.size() || events_[at].counter > node);
        if (!is_there) {
            const auto first = std::partition_point(events_.begin(), events_.end(),
                                                    [&](const Event& event) { return event.counter <= node; });
            at = static_cast<size_t>(first - events_.begin());
        }
        last_before_ = at;
        return at;
    }

    PlaceKeys place_of(int64_t node, size_t events_before) const {
        const bool is_first = events_before == 0;
        const PlaceKeys last = is_first ? PlaceKeys{} : events_[events_before - 1].place;
        const auto since = static_cast<uint64_t>(node - (is_first ? first_ : events_[events_before - 1].counter));
        return {recorder::mixed(last.stack, since), recorder::mixed(last.lines, since)};
    }

    /// Passes repeat, so the node is most often the one that followed the last one before: this finds it without a
    /// search through memory that no cache holds.
    const Learned* find(const PlaceKeys& place) {
        const uint32_t next = last_found_ < learned_.size() ? learned_[last_found_].next : none;
        const uint32_t found = next < learned_.size() && learned_[next].place == place.stack ? next : search(place);
        if (found == none) {
            return nullptr;
        }
        if (last_found_ < learned_.size()) {
            learned_[last_found_].next = found;
        }
        last_found_ = found;
        return &learned_[found];
    }

    uint32_t search(const PlaceKeys& place) const {
        if (const auto known = by_stack_.find(place.stack); known != by_stack_.end()) {
            return known->second;
        }
        const auto known = by_lines_.find(place.lines);
        return known == by_lines_.end() ? none : known->second;
    }

    bool is_active_ = false;
    int64_t first_ = 0;          ///< the counter at the begin
    std::vector<Event> events_;  ///< of this pass; counters do not decrease
    size_t last_before_ = 0;     ///< the last result of events_before()
    std::vector<Learned> learned_;
    std::unordered_map<uint64_t, uint32_t> by_stack_, by_lines_;  ///< places in `learned_`
    uint32_t last_found_ = none;
};

}  // namespace tidemark::plugin
