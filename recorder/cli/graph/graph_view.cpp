// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/graph/graph_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "recorder/cli/describe.h"
#include "storage/base/units.h"
#include "storage/graph/open_graph.h"
#include "storage/replay/repeated_step.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {

using nlohmann::ordered_json;

Result<std::unique_ptr<const Graph>> read_whole_graph(std::shared_ptr<const Trace> trace, Progress& progress) {
    auto graph = open_graph(std::move(trace), progress);
    if (graph && (*graph)->tables().empty()) {
        return std::unique_ptr<const Graph>();
    }
    return graph;
}

Error no_graph_error(const Trace& trace) {
    return input_error(
        "{path}: no autograd graph was recorded. `tidemark record` records it unless --with leaves out the part "
        "graph; PyTorch's snapshots, and traces made from them, have none.",
        with("path", trace.path));
}

Result<std::unique_ptr<const GraphView>> GraphView::open(const TimePointOptions& options, const Words& words,
                                                         Progress& progress) {
    auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    auto graph = read_whole_graph(*trace, progress);
    if (!graph) {
        return graph.error();
    }
    if (*graph == nullptr) {
        return no_graph_error(**trace);
    }
    const auto time_point = main_time_point(*trace, options);
    if (!time_point) {
        return time_point.error();
    }
    const DeviceHistory& device = time_point->device();
    return std::unique_ptr<const GraphView>(std::make_unique<GraphView>(
        std::move(*graph), device, last_state(device, time_point->point), time_point->time(), words));
}

GraphView::GraphView(std::unique_ptr<const Graph> graph, const DeviceHistory& device, EventNumber event, int64_t time,
                     const Words& words)
    : graph_(std::move(graph)),
      device_(device),
      event_(event),
      graph_state_(graph_->index, graph_->categories, time),
      referrers_(graph_->index, time),
      words_(words) {
    for (const DeviceHistory& each : trace().devices) {
        events_.push_back(each.events_until(time));
    }
}

std::string GraphView::when() const {
    return words_("{time}, event {event} of {count} of device {device}", with("time", format_time_point(time())),
                  with("event", format_count(event_)), with("count", format_count(device_.event_count())),
                  with("device", device_.device));
}

ordered_json GraphView::when_json() const {
    return {{"device", device_.device}, {"event", event_}, {"time_ns", time()}, {"text", when()}};
}

int64_t GraphView::block_bytes(AllocationRef memory) const {
    return static_cast<int64_t>(device_of(memory).allocations.block_size[memory.index]);
}

bool GraphView::is_allocated(AllocationRef memory) const {
    const Allocations& all = device_of(memory).allocations;
    const EventNumber event = events_[memory.device];
    return all.alloc_event[memory.index] < event && event <= all.free_event[memory.index];
}

bool GraphView::retains(uint32_t saved) const {
    const AllocationRef memory = tables().saved.allocation[saved];
    return memory && holds_saved(state(index().saver(saved))) && is_allocated(memory);
}

std::vector<uint32_t> GraphView::saved_by(NodeIndex node) const {
    const std::vector<uint32_t>& first = tables().saved.first;
    std::vector<uint32_t> saved(first[node + 1] - first[node]);
    std::iota(saved.begin(), saved.end(), first[node]);
    return saved;
}

int64_t GraphView::reachable_bytes(std::span<const NodeIndex> nodes) const {
    std::vector<std::pair<uint32_t, AllocationIndex>> reachable;
    for (const NodeIndex node : nodes) {
        for (const uint32_t s : saved_by(node)) {
            if (retains(s) && graph_state_.is_graph_memory(tables().saved.allocation[s])) {
                reachable.emplace_back(tables().saved.allocation[s].device, tables().saved.allocation[s].index);
            }
        }
    }
    std::sort(reachable.begin(), reachable.end());
    reachable.erase(std::unique(reachable.begin(), reachable.end()), reachable.end());
    int64_t bytes = 0;
    for (const auto& [device, allocation] : reachable) {
        bytes += block_bytes({device, allocation});
    }
    return bytes;
}

std::vector<NodeIndex> GraphView::reachable_from(NodeIndex node) const {
    std::vector<NodeIndex> found{node};
    std::vector<bool> seen(nodes().size(), false);
    seen[node] = true;
    for (size_t next = 0; next < found.size(); ++next) {
        for (const NodeIndex child : index().children(found[next])) {
            if (graph_state_.is_alive(child) && !seen[child]) {
                seen[child] = true;
                found.push_back(child);
            }
        }
    }
    return found;
}

std::string GraphView::name(NodeIndex node) const {
    const StackId stack = nodes().stack[node];
    const auto id = with("id", nodes().id[node]), type = with("type", type_text(node));
    return stack == 0 ? words_("node {id} {type}", id, type)
                      : words_("node {id} {type} ({line})", id, type, with("line", line_text(stack)));
}

std::string GraphView::type_text(NodeIndex node) const {
    const std::string& variable = tables().texts[nodes().variable[node]];
    return variable.empty()
               ? index().type(node)
               : words_("{type} of {variable}", with("type", index().type(node)), with("variable", variable));
}

std::string GraphView::line_text(StackId stack) const {
    const FrameId frame = trace().stacks.site(stack);
    return frame == 0 ? words_("no Python frame") : describe_frame(trace().stacks, frame);
}

std::string GraphView::step_text(NodeIndex node) const {
    const int32_t step = index().step_of(node);
    return step < 0 ? "" : words_("step {number}", with("number", trace().steps[static_cast<size_t>(step)].number));
}

std::string GraphView::name(AllocationRef memory) const {
    return words_("allocation {id}, {bytes}, {category}", with("id", device_of(memory).allocation_name(memory.index)),
                  with("bytes", format_bytes(block_bytes(memory))),
                  with("category", category_text(memory, categories().at(memory, time()))));
}

std::string GraphView::category_text(AllocationRef memory, Category category) const {
    const std::string& name = categories().name(memory);
    const bool is_named = !name.empty();
    const auto of = with("name", name);
    switch (category) {
        case Category::unknown: return words_("of unknown use");
        case Category::gradient: return is_named ? words_("gradient of `{name}`", of) : words_("gradient");
        case Category::optimizer_state:
            return is_named ? words_("optimizer state of `{name}`", of) : words_("optimizer state");
        case Category::parameter: return is_named ? words_("parameter `{name}`", of) : words_("parameter");
        case Category::buffer: return is_named ? words_("buffer `{name}`", of) : words_("buffer");
        case Category::saved: return words_("saved for backward");
        case Category::input: return words_("input");
        case Category::output: return words_("output");
        case Category::temporary: return words_("temporary");
        case Category::workspace: return words_("workspace");
        case Category::communication: return words_("bucket of gradients or buffer of a collective");
        case Category::unsharded: return words_("unsharded parameter");
    }
    return {};
}

std::optional<std::string> GraphView::referrer_text(NodeIndex node) const {
    const Referrer* referrer = referrers_.of(node);
    return referrer == nullptr ? std::nullopt : std::optional(path_words(tables(), words(), *referrer));
}

ordered_json GraphView::node_json(NodeIndex node) const {
    const FrameId line = trace().stacks.site(nodes().stack[node]);
    return {{"id", nodes().id[node]},
            {"type", index().type(node)},
            {"variable", tables().texts[nodes().variable[node]]},
            {"state", state_word(state(node))},
            {"module", module(node)},
            {"op", origin(node).op},
            {"step", step_json(index().step_of(node))},
            {"line", line == 0 ? ordered_json() : frame_json(trace().stacks, line)},
            {"created_ns", time_json(nodes().created[node])},
            {"executed_ns", time_json(nodes().executed[node])},
            {"released_ns", time_json(nodes().released[node])},
            {"destroyed_ns", time_json(nodes().destroyed[node])},
            {"shallow_bytes", graph_state_.shallow_bytes(node)},
            {"retained_bytes", graph_state_.retained_bytes(node)}};
}

ordered_json GraphView::saved_json(uint32_t saved) const {
    const SavedTensors& all = tables().saved;
    const AllocationRef memory = all.allocation[saved];
    return {{"name", tables().texts[all.name[saved]]},
            {"bytes", all.bytes[saved]},
            {"offset", all.offset[saved]},
            {"version", all.version[saved]},
            {"is_view", all.is_view[saved] != 0},
            {"is_packed", all.is_packed[saved] != 0},
            {"is_retained", retains(saved)},
            {"allocation", memory ? memory_json(memory) : ordered_json()}};
}

ordered_json GraphView::memory_json(AllocationRef memory) const {
    const Allocations& all = device_of(memory).allocations;
    return {{"id", allocation_id(memory)},
            {"device", device_of(memory).device},
            {"address", format_address(all.address[memory.index])},
            {"block_bytes", block_bytes(memory)},
            {"requested_bytes", all.requested[memory.index]},
            {"is_allocated", is_allocated(memory)},
            {"category", category_name(categories().at(memory, time()))},
            {"name", categories().name(memory)}};
}

ordered_json GraphView::referrer_json(const Referrer* referrer) const {
    if (referrer == nullptr) {
        return {};
    }
    return {{"text", path_words(tables(), words(), *referrer)}, {"links", links_json(tables(), referrer->links)}};
}

ordered_json GraphView::step_json(int32_t step) const {
    return step < 0 ? ordered_json() : ordered_json(trace().steps[static_cast<size_t>(step)].number);
}

ReferrerGroups::ReferrerGroups(const GraphView& view) : groups_(referrer_groups(view.graph_state(), view.referrers())) {
    for (const ReferrerGroup& group : groups_) {
        for (const uint32_t referrer : group.referrers) {
            group_of_[&view.tables().referrers[referrer]] = &group;
        }
    }
}

const ReferrerGroup* ReferrerGroups::of(const Referrer* referrer) const {
    const auto found = group_of_.find(referrer);
    return found == group_of_.end() ? nullptr : found->second;
}

std::string_view state_word(NodeState state) {
    switch (state) {
        case NodeState::not_created: return "not_created";
        case NodeState::never_executed: return "never_executed";
        case NodeState::executed: return "executed";
        case NodeState::released: return "released";
        case NodeState::destroyed: return "destroyed";
    }
    return {};
}

ordered_json links_json(const GraphTables& tables, std::span<const PathLink> links) {
    auto list = ordered_json::array();
    for (const PathLink& link : links) {
        list.push_back({{"kind", word_of(link.kind)},
                        {"name", tables.texts[link.name]},
                        {"function", tables.texts[link.function]},
                        {"file", tables.texts[link.file]},
                        {"line", link.line}});
    }
    return list;
}

ordered_json time_json(int64_t time) {
    return time == never_happened || time == before_recording ? ordered_json() : ordered_json(time);
}

}  // namespace tidemark::cli
