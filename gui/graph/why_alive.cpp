// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/why_alive.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/graph/retained_memory.h"
#include "gui/model/graph_text.h"
#include "gui/model/links.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Why {
    Q_DECLARE_TR_FUNCTIONS(Why)
};

constexpr size_t ends_of_path = 3;  // nodes named at both ends of a long path
constexpr size_t most_saved = 12, most_retainers = 8;

class PathReport {
public:
    PathReport(const GraphPicture& picture, uint32_t device)
        : index_(picture.index()),
          time_point_(*picture.time_point),
          referrers_(*picture.referrers),
          categories_(picture.graph->categories),
          device_(device) {}

    Report& report() { return report_; }

    void add_root(NodeIndex root) {
        add_referrer(referrers_.of(root), was_scanned_while_alive(root)
                                              ? Why::tr("No referrer of the root was found.")
                                              : Why::tr("No heap scan ran while it was alive."));
        report_.section(Why::tr("Root"));
        add_node(root);
    }

    void add_referrer(const Referrer* referrer, const QString& nobody) {
        report_.section(Why::tr("Retained by"));
        if (referrer == nullptr) {
            report_.note(referrers_.scan() == nullptr ? Why::tr("The referrer is unknown: no heap scan was recorded.")
                                                      : nobody);
            return;
        }
        report_.item(referrer_text(index_.tables(), *referrer), path_link(*referrer));
    }

    /// Adds the nodes between the root and the node.
    void add_path(const std::vector<NodeIndex>& path) {
        if (path.size() < 3) {
            return;
        }
        const size_t between = path.size() - 2;
        report_.section(
            Why::tr("Through %1 node(s)", nullptr, plural(between)).arg(count_text(static_cast<int64_t>(between))));
        for (size_t i = 1; i + 1 < path.size(); ++i) {
            if (between > 2 * ends_of_path + 1 && i == 1 + ends_of_path) {
                const size_t skipped = between - 2 * ends_of_path;
                report_.note(Why::tr("… %1 more …").arg(count_text(static_cast<int64_t>(skipped))));
                i += skipped;
            }
            report_.item(QStringLiteral("↓ ") + node_of_module_text(index_, path[i]), node_link(path[i]));
        }
    }

    void add_node(NodeIndex node) {
        report_.item(node_of_module_text(index_, node), node_link(node));
        const QString line = line_text(index_, node);
        const int32_t step = index_.step_of(node);
        const QString steps = steps_text(index_.trace(), step, step);
        const int64_t created = index_.tables().nodes.created[node];
        const QString made = created == before_recording ? Why::tr("created before the recording began")
                             : steps.isEmpty()           ? Why::tr("created at %1").arg(time_point_text(created))
                                               : Why::tr("created in %1, at %2").arg(steps, time_point_text(created));
        if (line.isEmpty()) {
            report_.note(made);
        } else {
            report_.item(Why::tr("%1, %2").arg(line, made), line_link(node));
        }
        const NodeState state = index_.state(node, time_point_.time());
        const auto& first = index_.tables().saved.first;
        report_.note(
            state == NodeState::released && first[node] == first[node + 1]
                ? Why::tr("Backward executed this node. It saved no tensors, so a second backward can pass through it.")
                : state_sentence(index_, node, time_point_.time()));
    }

    void add_saved(NodeIndex node) {
        const SavedTensors& saved = index_.tables().saved;
        const uint32_t first = saved.first[node], last = saved.first[node + 1];
        if (first == last) {
            return;
        }
        const bool retained = holds_saved(index_.state(node, time_point_.time()));
        report_.section(retained ? Why::tr("Saved tensors") : Why::tr("Saved tensors, released"));
        for (uint32_t s = first; s < std::min<uint32_t>(last, first + most_saved); ++s) {
            add_saved_tensor(s);
        }
        if (last - first > most_saved) {
            report_.note(Why::tr("and %1 more").arg(count_text(last - first - most_saved)));
        }
    }

    void add_freed(NodeIndex root, NodeIndex node) {
        report_.section(Why::tr("Retained size"));
        const auto bytes = [&](NodeIndex n) {
            return both_bytes_text(static_cast<uint64_t>(std::max<int64_t>(time_point_.retained_bytes(n), 0)));
        };
        if (root != node) {
            report_.note(Why::tr("Freed with the root: %1.").arg(bytes(root)));
        }
        report_.note(Why::tr("Freed with this node: %1.").arg(bytes(node)));
        const int64_t own = time_point_.shallow_bytes(node);
        if (own > time_point_.retained_bytes(node)) {
            report_.note(Why::tr("Its shallow size is %1. Parameters, gradients and memory that other nodes retain as "
                                 "well would stay.")
                             .arg(bytes_text(static_cast<uint64_t>(own))));
        }
    }

    void add_retainers(const std::vector<uint32_t>& retainers) {
        report_.section(Why::tr("%1 node(s) saved it", nullptr, plural(retainers.size()))
                            .arg(count_text(static_cast<int64_t>(retainers.size()))));
        for (size_t i = 0; i < std::min(retainers.size(), most_retainers); ++i) {
            const NodeIndex node = index_.saver(retainers[i]);
            report_.item(Why::tr("%1, as %2").arg(node_of_module_text(index_, node), saved_name(retainers[i])),
                         node_link(node));
        }
        if (retainers.size() > most_retainers) {
            report_.note(
                Why::tr("and %1 more").arg(count_text(static_cast<int64_t>(retainers.size() - most_retainers))));
        }
    }

    /// Adds everything from the referrer down to the saved tensors; `here` is the heading of the node itself.
    void add_all_of(NodeIndex node, const QString& here) {
        const std::vector<NodeIndex> path = time_point_.path_to(node);
        if (path.empty()) {
            report_.note(state_sentence(index_, node, time_point_.time()));
            add_saved(node);
            return;
        }
        add_root(path.front());
        add_path(path);
        if (path.size() > 1) {
            report_.section(here);
            add_node(node);
        }
        add_saved(node);
        add_freed(path.front(), node);
    }

    static QString node_link(NodeIndex node) { return link_to("node", node); }

private:
    bool was_scanned_while_alive(NodeIndex node) const {
        const GraphNodes& nodes = index_.tables().nodes;
        const HeapScan* scan = referrers_.scan();
        return scan != nullptr && nodes.created[node] <= scan->time && scan->time < nodes.destroyed[node];
    }

    /// Returns ", parameter GPT2.wte.weight" for memory that outlives the graph; empty for other memory.
    QString other_owner(AllocationRef memory) const {
        const Category category = categories_.at(memory, time_point_.time());
        return is_retained_outside_graph(category)
                   ? QStringLiteral(", %1 %2").arg(category_text(category), to_qstring(categories_.name(memory)))
                   : QString();
    }

    QString saved_name(uint32_t s) const { return to_qstring(index_.tables().texts[index_.tables().saved.name[s]]); }

    void add_saved_tensor(uint32_t s) {
        const SavedTensors& saved = index_.tables().saved;
        const AllocationRef memory = saved.allocation[s];
        const QString what = QStringLiteral("%1  %2").arg(saved_name(s), bytes_text(saved.bytes[s]));
        if (!memory) {
            report_.note(
                what + (saved.is_packed[s] ? Why::tr(", packed by hooks") : Why::tr(", not in this device's memory")));
            return;
        }
        const DeviceHistory& device = index_.trace().devices[memory.device];
        const QString block = Why::tr("%1 → block of %2 at %3")
                                  .arg(what, bytes_text(device.allocations.block_size[memory.index]),
                                       address_text(device.allocations.address[memory.index])) +
                              other_owner(memory);
        report_.item(block, memory.device == device_ ? link_to("allocation", memory.index) : QString());
    }

    QString line_link(NodeIndex node) const {
        const StackTable& stacks = index_.trace().stacks;
        return gui::line_link(stacks, stacks.site(index_.tables().nodes.stack[node]));
    }

    QString path_link(const Referrer& referrer) const {
        for (const PathLink& link : referrer.links) {
            if (link.line > 0) {
                return gui::line_link(to_qstring(index_.tables().texts[link.file]), link.line);
            }
        }
        return {};
    }

    const GraphIndex& index_;
    const GraphState& time_point_;
    const ReferrerIndex& referrers_;
    const Categories& categories_;
    const uint32_t device_;
    Report report_;
};

/// Returns the node reachable from the root with the largest shallow size.
NodeIndex largest_below(const GraphPicture& picture, NodeIndex root) {
    const GraphState& time_point = *picture.time_point;
    std::vector<bool> seen(picture.index().tables().nodes.size());
    std::vector<NodeIndex> open{root};
    NodeIndex largest = root;
    seen[root] = true;
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        largest = time_point.shallow_bytes(node) > time_point.shallow_bytes(largest) ? node : largest;
        for (const NodeIndex child : picture.index().children(node)) {
            if (!seen[child] && time_point.is_alive(child)) {
                seen[child] = true;
                open.push_back(child);
            }
        }
    }
    return largest;
}

}  // namespace

Report why_node_is_alive(const GraphPicture& picture, NodeIndex node, uint32_t device) {
    PathReport path_report(picture, device);
    path_report.report().title(Why::tr("Why is it alive?"), node_of_module_text(picture.index(), node));
    path_report.add_all_of(node, Why::tr("This node"));
    return std::move(path_report.report());
}

Report why_most_is_alive(const GraphPicture& picture, const RootGroup& group, uint32_t device) {
    PathReport path_report(picture, device);
    path_report.report().title(Why::tr("What retains most memory?"),
                               Why::tr("%1: %2").arg(group.title(), group.reachable_text()));
    if (group.roots.size() > 1) {
        path_report.report().note(Why::tr("This is the path of one of them."));
    }
    path_report.add_all_of(largest_below(picture, group.roots.front()),
                           Why::tr("The node with the largest shallow size"));
    return std::move(path_report.report());
}

Report why_allocation_is_alive(const GraphPicture& picture, AllocationRef allocation) {
    const Graph& graph = *picture.graph;
    const GraphIndex& index = graph.index;
    const GraphState& time_point = *picture.time_point;
    PathReport path_report(picture, allocation.device);
    const DeviceHistory& device = index.trace().devices[allocation.device];
    path_report.report().title(
        Why::tr("Why is it alive?"),
        Why::tr("allocation %1 of %2 at %3, %4")
            .arg(allocation_text(device, allocation.index), bytes_text(device.allocations.block_size[allocation.index]),
                 address_text(device.allocations.address[allocation.index]),
                 category_text(graph.categories.at(allocation, time_point.time()))));
    const std::string& name = graph.categories.name(allocation);
    if (!name.empty()) {
        path_report.report().note(to_qstring(name));
    }
    if (const NodeIndex maker = index.maker(allocation); maker != no_node) {
        path_report.report().section(Why::tr("Created by"));
        path_report.report().item(node_of_module_text(index, maker), PathReport::node_link(maker));
    }
    if (!RetainedMemory(index, time_point.time()).is_allocated(allocation)) {
        path_report.report().note(Why::tr("It is not allocated at the cursor."));
        return std::move(path_report.report());
    }
    const std::vector<uint32_t> retainers = time_point.retainers(allocation);
    const Referrer* const referrer = picture.referrers->of(allocation);
    if (retainers.empty()) {
        path_report.add_referrer(referrer, Why::tr("The heap scan found no referrer of its tensor."));
        path_report.report().note(Why::tr("No node of the graph retains it at the cursor."));
        return std::move(path_report.report());
    }
    if (referrer != nullptr) {
        path_report.report().section(Why::tr("Its tensor is retained by"));
        path_report.report().note(referrer_text(index.tables(), *referrer));
    }
    const NodeIndex node = index.saver(retainers.front());
    const std::vector<NodeIndex> path = time_point.path_to(node);
    if (!path.empty()) {
        path_report.add_root(path.front());
        path_report.add_path(path);
    }
    path_report.add_retainers(retainers);
    path_report.report().note(state_sentence(index, node, time_point.time()));
    path_report.add_freed(path.empty() ? node : path.front(), node);
    return std::move(path_report.report());
}

}  // namespace tidemark::gui
