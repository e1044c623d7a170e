// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tracks autograd nodes from creation to destruction and writes them.
//
// Nodes become rows by rising id, at the second commit after their own: by then messages in other rings have arrived.
// The first 100,000 nodes are all written. After that, most nodes of a training run resemble those of earlier steps. So
// a node that is destroyed within 2 s and before two more steps end is only counted. Any other node is written; so are,
// up to 200,000 nodes, those that outlive the creation of four steps' nodes: a loop after the last step may chain
// graphs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/daemon/allocation_finder.h"
#include "recorder/daemon/definitions.h"
#include "recorder/daemon/site_labels.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// Commits after which messages in other rings have arrived, such as the node that names a gradient.
inline constexpr uint32_t commits_for_other_rings = 2;
/// Commits after which memory counts as unknown if its events have not arrived.
inline constexpr uint32_t commits_for_memory = 100;

/// The commit for which rows are written.
struct CommitTimePoint {
    uint32_t number = 0;   ///< from 1
    int64_t time = 0;      ///< trace time up to which the rings were read
    bool is_last = false;  ///< no more messages arrive
};

class NodeLog {
public:
    /// `asker`: identifies the questions of this log.
    NodeLog(StreamingWriter& writer, const Definitions& definitions, Origins& origins, const TickClock& clock,
            AllocationFinder& memory, SiteLabels& sites, uint8_t asker)
        : writer_(writer),
          definitions_(definitions),
          origins_(origins),
          clock_(clock),
          memory_(memory),
          sites_(sites),
          asker_(asker) {}

    void on_node(const tidemark_record& record, std::span<const std::byte> payload, const ThreadDefinitions& thread);
    void on_run(const tidemark_record& record);
    void on_destroyed(const tidemark_record& record);
    /// Names existing and future AccumulateGrad nodes after their variable.
    void name_variable(uint64_t identity, StringId name);
    void on_step();
    void on_answer(const MemoryAnswer& answer);

    /// Writes the nodes that are complete, and changes of written nodes.
    void report(const CommitTimePoint& commit);

    /// Returns the name of a known AccumulateGrad node; 0: none.
    StringId variable_of(uint32_t node) const;
    int64_t left_out() const { return left_out_; }

private:
    /// The times of a node's events. Stored as long as messages about the node may arrive.
    struct NodeLifetime {
        int64_t executed = never_happened, released = never_happened, destroyed = never_happened;
        StringId variable = 0;
        bool is_created = false;  ///< its creation was read, possibly after other messages
        bool is_written = false, is_changed = false;
    };
    /// A node that is not written yet.
    struct Pending {
        NodeRow row;
        const ThreadDefinitions* thread = nullptr;
        StringId op = 0;
        uint32_t stack = 0;
        uint16_t stack_thread = 0;
        uint32_t arrived = 0;  ///< number of the last commit before it
        int64_t seen = 0;
        uint32_t step = 0, last_step = 0;
        bool outlives_steps = false;  ///< was destroyed after the creation of as many nodes as several steps create
        uint32_t questions = 0;
        std::vector<EdgeRow> edges;
        std::vector<SavedTensorRow> saved;

        size_t bytes() const;
    };
    struct Due {
        uint32_t commit, node;
    };
    struct Variable {
        StringId name = 0;
        uint32_t node = 0;  ///< its latest AccumulateGrad node
    };
    enum class Decision { undecided, write, leave_out };
    using PendingNodes = std::map<uint32_t, Pending>;

    NodeLifetime* lifetime_of(uint32_t id);
    void change(uint32_t id, NodeLifetime& lifetime);
    Pending read_creation(const tidemark_record& record, const ThreadDefinitions& thread) const;
    void read_payload(const tidemark_record& record, std::span<const std::byte> payload,
                      const ThreadDefinitions& thread, Pending& node);
    SavedTensorRow read_saved(const tidemark_record& record, const tidemark_saved& saved, size_t position,
                              const ThreadDefinitions& thread, Pending& node);
    std::optional<int64_t> find(const tidemark_record& record, uint8_t device, uint64_t address, size_t part,
                                Pending& node);
    void bind_variable(uint32_t id, uint64_t identity, NodeLifetime& lifetime);
    Decision decide(const Pending& node, const NodeLifetime& lifetime, const CommitTimePoint& commit) const;
    bool is_short_lived(const Pending& node, const NodeLifetime& lifetime) const;
    void write(uint32_t id, const Pending& node, NodeLifetime& lifetime);
    void label_sites(const Pending& node) const;
    void place(Pending& node) const;
    PendingNodes::iterator take_out(PendingNodes::iterator node);
    void report_changes();
    void forget(const CommitTimePoint& commit);
    void forget_destroyed(uint32_t id);

    StreamingWriter& writer_;
    const Definitions& definitions_;
    Origins& origins_;
    const TickClock& clock_;
    AllocationFinder& memory_;
    SiteLabels& sites_;
    const uint8_t asker_;
    std::unordered_map<uint32_t, NodeLifetime> lifetimes_;
    PendingNodes pending_;
    size_t pending_bytes_ = 0;
    std::vector<uint32_t> changed_;
    std::deque<Due> destroyed_, not_created_;            ///< forgotten with a commit unless their creation arrives
    std::unordered_map<uint64_t, Variable> variables_;   ///< by identity
    std::unordered_map<uint32_t, uint64_t> identities_;  ///< of the variables of known AccumulateGrad nodes
    uint32_t commit_ = 0, steps_ = 0, newest_ = 0, last_written_ = 0;
    uint32_t newest_of_step_ = 0, nodes_of_step_ = 0, nodes_of_step_before_ = 0;
    int64_t written_ = 0, left_out_ = 0;
};

}  // namespace tidemark::recorder
