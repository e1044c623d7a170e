// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/label_log.h"

#include <array>
#include <utility>

namespace tidemark::recorder {

namespace {

constexpr size_t most_pending = 1 << 18;
constexpr size_t most_remembered = 1 << 17;

// In the order of tidemark_category.
constexpr std::array categories{Category::unknown,  Category::parameter,       Category::buffer,
                                Category::gradient, Category::optimizer_state, Category::input,
                                Category::output,   Category::workspace,       Category::communication};

}  // namespace

void LabelLog::on_label(const tidemark_record& record, StringId name) {
    if (record.label.address != 0 && record.detail < categories.size()) {
        await({clock_.time_of(record.ticks), categories[record.detail], name, 0}, record.label.device,
              record.label.address, record.label.sequence);
    }
}

void LabelLog::on_gradient(const tidemark_record& run) {
    if (run.node_run.address != 0) {
        const uint32_t node = run.node_run.id;
        await({clock_.time_of(run.ticks), Category::gradient, nodes_.variable_of(node), node}, run.node_run.device,
              run.node_run.address, run.node_run.sequence);
    }
}

void LabelLog::await(const Label& label, uint8_t device, uint64_t address, uint64_t sequence) {
    const MemoryTicket ticket{asker_, 0, labels_.next_ticket()};
    labels_.push(label, commit_, memory_.find(device, address, sequence, ticket));
}

void LabelLog::report(const CommitTimePoint& commit) {
    commit_ = commit.number;
    for (; !labels_.empty(); labels_.pop()) {
        const auto& [label, arrived, is_answered, allocation] = labels_.front();
        const uint32_t wait = is_answered ? commits_for_other_rings : commits_for_memory;
        if (!commit.is_last && labels_.size() <= most_pending && commit.number - arrived < wait) {
            return;  // later rows arrived later and wait, too
        }
        const StringId name = label.name != 0 ? label.name : nodes_.variable_of(label.node);
        if (allocation != no_allocation_row && is_new(allocation, {label.category, name})) {
            writer_.category({allocation, label.time, label.category, name});
            sites_.labeled(allocation, label.category, name);
        }
    }
}

bool LabelLog::is_new(int64_t allocation, const LatestLabel& label) {
    if (latest_labels_.size() >= most_remembered) {
        older_labels_ = std::exchange(latest_labels_, {});
    }
    const auto [entry, added] = latest_labels_.try_emplace(allocation, label);
    if (added) {
        const auto before = older_labels_.find(allocation);
        return before == older_labels_.end() || before->second != label;
    }
    return std::exchange(entry->second, label) != label;
}

}  // namespace tidemark::recorder
