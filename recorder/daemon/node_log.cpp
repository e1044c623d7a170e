// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/node_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidemark::recorder {

namespace {

constexpr int64_t most_written_in_full = 100'000, most_written_of_long_loops = 200'000;
constexpr int64_t short_lifetime = 2'000'000'000;
constexpr uint32_t few_steps = 2;
/// Steps of as many nodes as the larger one of the last two.
constexpr uint64_t most_steps_of_nodes = 4;
/// Commits to wait for the creation of a node whose destruction arrived first.
constexpr uint32_t commits_for_creation = 20;
/// Ids are consecutive, but nodes may have been lost. An id this far ahead of the others is damaged.
constexpr uint32_t longest_jump = 1 << 24;
constexpr size_t most_not_created = 1 << 16;
constexpr size_t most_variables = 1 << 20;
/// Limit of host memory, in bytes, for nodes whose decision is pending.
constexpr size_t most_pending_bytes = 64 << 20;

template <class Part>
Part part_at(std::span<const std::byte> payload, size_t offset) {
    Part part;
    std::memcpy(&part, payload.data() + offset, sizeof part);
    return part;
}

/// Returns the later of two times; the first may be unknown.
int64_t later(int64_t known, int64_t time) { return known == never_happened ? time : std::max(known, time); }

}  // namespace

size_t NodeLog::Pending::bytes() const {
    return sizeof(Pending) + edges.size() * sizeof(EdgeRow) + saved.size() * sizeof(SavedTensorRow);
}

/// Returns nullptr if the creations of too many nodes are missing.
NodeLog::NodeLifetime* NodeLog::lifetime_of(uint32_t id) {
    if (const auto found = lifetimes_.find(id); found != lifetimes_.end()) {
        return &found->second;
    }
    if (id == 0 || not_created_.size() >= most_not_created) {
        return nullptr;
    }
    not_created_.push_back({commit_ + commits_for_creation, id});
    return &lifetimes_[id];
}

void NodeLog::change(uint32_t id, NodeLifetime& lifetime) {
    if (lifetime.is_written && !lifetime.is_changed) {
        lifetime.is_changed = true;
        changed_.push_back(id);
    }
}

void NodeLog::on_node(const tidemark_record& record, std::span<const std::byte> payload,
                      const ThreadDefinitions& thread) {
    const uint32_t id = record.node.id;
    const auto known = lifetimes_.find(id);
    const bool is_damaged = id == 0 || (newest_ != 0 && id > newest_ && id - newest_ > longest_jump);
    if (is_damaged || (known != lifetimes_.end() && known->second.is_created)) {
        return;
    }
    newest_ = std::max(newest_, id);
    if (id <= last_written_) {
        ++left_out_;  // a row with a higher id is written already
        return;
    }
    NodeLifetime& lifetime = lifetimes_[id];
    lifetime.is_created = true;
    Pending node = read_creation(record, thread);
    read_payload(record, payload, thread, node);
    if ((record.node.flags & TIDEMARK_NODE_ACCUMULATES) != 0) {
        bind_variable(id, record.node.number, lifetime);
    }
    pending_bytes_ += node.bytes();
    pending_.emplace_hint(pending_.end(), id, std::move(node));
    if (lifetime.destroyed != never_happened) {
        destroyed_.push_back({commit_ + commits_for_other_rings, id});
    }
}

NodeLog::Pending NodeLog::read_creation(const tidemark_record& record, const ThreadDefinitions& thread) const {
    const auto& created = record.node;
    const bool is_late = (created.flags & TIDEMARK_NODE_LATE) != 0;
    const bool accumulates = (created.flags & TIDEMARK_NODE_ACCUMULATES) != 0;
    Pending node;
    node.seen = clock_.time_of(record.ticks);
    node.row.type = thread.text(created.type);
    node.row.created = is_late ? before_recording : node.seen;
    node.row.sequence = accumulates || created.number > INT64_MAX ? -1 : static_cast<int64_t>(created.number);
    node.thread = &thread;
    node.op = thread.op(created.op);
    node.stack = created.stack;
    node.stack_thread = created.stack_thread;
    node.arrived = commit_;
    node.step = node.last_step = steps_;
    return node;
}

void NodeLog::read_payload(const tidemark_record& record, std::span<const std::byte> payload,
                           const ThreadDefinitions& thread, Pending& node) {
    node.row.output = find(record, record.node.device, record.node.address, 0, node).value_or(no_allocation_row);
    const size_t edges = std::min<size_t>(record.node.edges, payload.size() / sizeof(tidemark_edge));
    node.edges.reserve(edges);
    for (size_t i = 0; i < edges; ++i) {
        const auto edge = part_at<tidemark_edge>(payload, i * sizeof(tidemark_edge));
        if (edge.node != 0) {
            node.edges.push_back({edge.node, edge.slot, edge.input});
        }
    }
    const auto rest = payload.subspan(edges * sizeof(tidemark_edge));
    const size_t saved = std::min<size_t>(record.node.saved, rest.size() / sizeof(tidemark_saved));
    node.saved.reserve(saved);
    for (size_t i = 0; i < saved; ++i) {
        const auto tensor = part_at<tidemark_saved>(rest, i * sizeof(tidemark_saved));
        node.saved.push_back(read_saved(record, tensor, i, thread, node));
    }
}

SavedTensorRow NodeLog::read_saved(const tidemark_record& record, const tidemark_saved& saved, size_t position,
                                   const ThreadDefinitions& thread, Pending& node) {
    SavedTensorRow row;
    row.name = thread.text(saved.name);
    row.version = saved.version;
    row.is_view = (saved.flags & TIDEMARK_SAVED_VIEW) != 0;
    row.is_packed = (saved.flags & TIDEMARK_SAVED_PACKED) != 0;
    if (saved.offset > largest_size || saved.bytes > largest_size) {
        return row;
    }
    row.offset = saved.offset;
    row.bytes = saved.bytes;
    if (saved.device == record.node.device) {  // the record has the event count of one device only
        row.allocation = find(record, saved.device, saved.address, position + 1, node).value_or(no_allocation_row);
    }
    return row;
}

/// `part`: 0 is the output, others the saved tensors from 1.
std::optional<int64_t> NodeLog::find(const tidemark_record& record, uint8_t device, uint64_t address, size_t part,
                                     Pending& node) {
    const MemoryTicket ticket{asker_, static_cast<uint16_t>(part), record.node.id};
    const auto found = memory_.find(device, address, record.node.sequence, ticket);
    node.questions += !found.has_value();
    return found;
}

void NodeLog::on_answer(const MemoryAnswer& answer) {
    const auto found = pending_.find(static_cast<uint32_t>(answer.ticket.subject));
    if (found == pending_.end()) {
        return;
    }
    Pending& node = found->second;
    --node.questions;
    if (answer.ticket.part == 0) {
        node.row.output = answer.allocation;
    } else {
        node.saved[answer.ticket.part - 1u].allocation = answer.allocation;
    }
}

void NodeLog::on_run(const tidemark_record& record) {
    NodeLifetime* lifetime = lifetime_of(record.node_run.id);
    if (lifetime == nullptr) {
        return;
    }
    const int64_t time = clock_.time_of(record.ticks);
    lifetime->executed = later(lifetime->executed, time);
    if (record.detail == 1) {
        lifetime->released = later(lifetime->released, time);
    }
    change(record.node_run.id, *lifetime);
}

void NodeLog::on_step() {
    ++steps_;
    nodes_of_step_before_ = std::exchange(nodes_of_step_, newest_ - newest_of_step_);
    newest_of_step_ = newest_;
}

void NodeLog::on_destroyed(const tidemark_record& record) {
    const uint32_t id = record.node_destroyed.id;
    NodeLifetime* lifetime = lifetime_of(id);
    if (lifetime == nullptr || lifetime->destroyed != never_happened) {
        return;
    }
    lifetime->destroyed = clock_.time_of(record.ticks);
    change(id, *lifetime);
    if (lifetime->is_created) {
        destroyed_.push_back({commit_ + commits_for_other_rings, id});
    }
    if (const auto pending = pending_.find(id); pending != pending_.end()) {
        pending->second.last_step = steps_;
        const uint64_t of_step = std::max(nodes_of_step_, nodes_of_step_before_);
        pending->second.outlives_steps = steps_ >= few_steps && newest_ - id > most_steps_of_nodes * of_step;
    }
}

void NodeLog::bind_variable(uint32_t id, uint64_t identity, NodeLifetime& lifetime) {
    if (variables_.size() >= most_variables && !variables_.contains(identity)) {
        return;
    }
    Variable& variable = variables_[identity];
    variable.node = id;
    lifetime.variable = variable.name;
    identities_[id] = identity;
}

void NodeLog::name_variable(uint64_t identity, StringId name) {
    if (identity == 0 || name == 0 || (variables_.size() >= most_variables && !variables_.contains(identity))) {
        return;
    }
    Variable& variable = variables_[identity];
    variable.name = name;
    const auto node = lifetimes_.find(variable.node);
    if (node != lifetimes_.end() && node->second.variable != name) {
        node->second.variable = name;
        change(node->first, node->second);
    }
}

StringId NodeLog::variable_of(uint32_t node) const {
    const auto found = lifetimes_.find(node);
    return found == lifetimes_.end() ? 0 : found->second.variable;
}

void NodeLog::report(const CommitTimePoint& commit) {
    commit_ = commit.number;
    for (auto node = pending_.begin(); node != pending_.end();) {
        NodeLifetime& lifetime = lifetimes_[node->first];
        const Decision decision = decide(node->second, lifetime, commit);
        if (decision == Decision::undecided) {
            break;  // nodes with higher ids wait for it
        }
        label_sites(node->second);
        if (decision == Decision::write) {
            write(node->first, node->second, lifetime);
        } else {
            ++left_out_;
        }
        if (lifetime.destroyed != never_happened) {
            destroyed_.push_back({commit_ + commits_for_other_rings, node->first});
        }
        node = take_out(node);
    }
    report_changes();
    forget(commit);
}

NodeLog::Decision NodeLog::decide(const Pending& node, const NodeLifetime& lifetime,
                                  const CommitTimePoint& commit) const {
    const bool must_be_decided = commit.is_last || pending_bytes_ > most_pending_bytes;
    const uint32_t age = commit.number - node.arrived;
    if (!must_be_decided && (age < commits_for_other_rings || (node.questions > 0 && age < commits_for_memory))) {
        return Decision::undecided;
    }
    if (written_ < most_written_in_full) {
        return Decision::write;
    }
    if (lifetime.destroyed != never_happened) {
        return is_short_lived(node, lifetime) ? Decision::leave_out : Decision::write;
    }
    const bool is_long_lived = commit.time - node.seen > short_lifetime || steps_ - node.step >= few_steps;
    return is_long_lived || must_be_decided ? Decision::write : Decision::undecided;
}

bool NodeLog::is_short_lived(const Pending& node, const NodeLifetime& lifetime) const {
    const bool outlives_steps = node.outlives_steps && written_ < most_written_of_long_loops;
    return lifetime.destroyed - node.seen <= short_lifetime && node.last_step - node.step < few_steps &&
           !outlives_steps;
}

void NodeLog::label_sites(const Pending& node) const {
    sites_.labeled(node.row.output, Category::output, 0);
    for (const SavedTensorRow& saved : node.saved) {
        sites_.labeled(saved.allocation, Category::saved, 0);
    }
}

void NodeLog::write(uint32_t id, const Pending& node, NodeLifetime& lifetime) {
    NodeRow row = node.row;
    if (node.thread != nullptr) {
        const ThreadDefinitions* definer = node.stack_thread == 0 ? node.thread : definitions_.find(node.stack_thread);
        const auto stack = definer == nullptr ? std::nullopt : definer->stack(node.stack);
        row.stack = stack ? stack->stack : 0;
        row.origin = origins_.origin({node.thread->native_thread(), node.op, 0, 0, 0, stack ? stack->modules : 0});
    }
    row.variable = lifetime.variable;
    row.executed = lifetime.executed;
    row.released = lifetime.released;
    row.destroyed = lifetime.destroyed;
    writer_.node(id, row);
    for (const EdgeRow& edge : node.edges) {
        writer_.edge(id, edge);
    }
    for (const SavedTensorRow& saved : node.saved) {
        writer_.saved_tensor(id, saved);
    }
    lifetime.is_written = true;
    last_written_ = id;
    ++written_;
}

NodeLog::PendingNodes::iterator NodeLog::take_out(PendingNodes::iterator node) {
    pending_bytes_ -= node->second.bytes();
    return pending_.erase(node);
}

void NodeLog::report_changes() {
    for (const uint32_t id : changed_) {
        const auto found = lifetimes_.find(id);
        if (found == lifetimes_.end()) {
            continue;
        }
        NodeLifetime& lifetime = found->second;
        NodeRow row;
        row.variable = lifetime.variable;
        row.executed = lifetime.executed;
        row.released = lifetime.released;
        row.destroyed = lifetime.destroyed;
        writer_.node_changed(id, row);
        lifetime.is_changed = false;
    }
    changed_.clear();
}

void NodeLog::forget(const CommitTimePoint& commit) {
    for (; !destroyed_.empty() && destroyed_.front().commit <= commit.number; destroyed_.pop_front()) {
        forget_destroyed(destroyed_.front().node);
    }
    for (; !not_created_.empty() && not_created_.front().commit <= commit.number; not_created_.pop_front()) {
        const auto found = lifetimes_.find(not_created_.front().node);
        if (found != lifetimes_.end() && !found->second.is_created) {
            lifetimes_.erase(found);
        }
    }
}

void NodeLog::forget_destroyed(uint32_t id) {
    const auto found = lifetimes_.find(id);
    if (found == lifetimes_.end()) {
        return;
    }
    if (const auto pending = pending_.find(id); pending != pending_.end()) {
        if (written_ < most_written_in_full || !is_short_lived(pending->second, found->second)) {
            return;  // report() writes it in order of ids
        }
        ++left_out_;  // a node that is left out need not wait for lower ids
        take_out(pending);
    }
    if (const auto identity = identities_.find(id); identity != identities_.end()) {
        const auto variable = variables_.find(identity->second);
        if (variable != variables_.end() && variable->second.node == id && variable->second.name == 0) {
            variables_.erase(variable);
        }
        identities_.erase(identity);
    }
    lifetimes_.erase(found);
}

}  // namespace tidemark::recorder
