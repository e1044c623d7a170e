// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/grouping.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <numeric>

#include "gui/model/text.h"
#include "storage/attribution/category_grouping.h"

namespace tidemark::gui {

namespace {

struct Naming {
    Q_DECLARE_TR_FUNCTIONS(Groups)
};

struct Weighed {
    std::vector<uint32_t> group;       // of each allocation
    std::vector<double> bytes;         // of each group, for its rank
    std::vector<AllocationIndex> any;  // a member of each group
};

Weighed weigh(const DeviceHistory& device, EventNumber peak, Grouper& grouper, uint32_t known) {
    const Allocations& all = device.allocations;
    const double events = std::max<double>(device.event_count(), 1);
    Weighed w;
    w.group.resize(known);
    std::vector<double> at_peak, over_time;
    for (AllocationIndex a = 0; a < known; ++a) {
        const uint32_t g = grouper.group_of(a);
        w.group[a] = g;
        if (g >= at_peak.size()) {
            at_peak.resize(g + 1, 0);
            over_time.resize(g + 1, 0);
            w.any.resize(g + 1, a);
        }
        const auto bytes = static_cast<double>(all.block_size[a]);
        const double end = std::min<double>(all.free_completed[a], events);
        over_time[g] += bytes * (end - std::max<double>(all.alloc_event[a], 0)) / events;
        if (all.alloc_event[a] < peak && peak <= all.free_completed[a]) {
            at_peak[g] += bytes;
        }
    }
    w.bytes.resize(at_peak.size());
    std::transform(at_peak.begin(), at_peak.end(), over_time.begin(), w.bytes.begin(),
                   [](double x, double y) { return std::max(x, y); });
    return w;
}

std::vector<uint32_t> largest(const std::vector<double>& bytes) {
    std::vector<uint32_t> order(bytes.size());
    std::iota(order.begin(), order.end(), 0u);
    const size_t count = std::min<size_t>(order.size(), most_groups - 1);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                      [&](uint32_t a, uint32_t b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
    order.resize(count);
    return order;
}

/// Returns the groups that get a color, those of `before` in their old places. A bonus for them prevents that two
/// groups of equal size alternate.
std::vector<uint32_t> largest_as_before(Weighed w, const Groups& before) {
    constexpr double bonus = 1.25;
    std::vector<uint32_t> old;
    for (const AllocationIndex a : before.member) {
        if (a < w.group.size()) {
            old.push_back(w.group[a]);
            w.bytes[old.back()] *= bonus;
        }
    }
    std::vector<uint32_t> ranked = largest(w.bytes);
    const auto newcomers = std::stable_partition(
        ranked.begin(), ranked.end(), [&](uint32_t g) { return std::find(old.begin(), old.end(), g) != old.end(); });
    std::vector<uint32_t> result;
    auto next = newcomers;
    for (const uint32_t g : old) {
        if (std::find(ranked.begin(), newcomers, g) != newcomers) {
            result.push_back(g);
        } else if (next != ranked.end()) {
            result.push_back(*next++);
        }
    }
    result.insert(result.end(), next, ranked.end());
    return result;
}

/// Returns the first position where the stacks differ, from the allocation outwards; SIZE_MAX if one contains the
/// other.
size_t first_difference(const std::vector<std::vector<FrameId>>& stacks) {
    size_t depth = 0;
    for (;; ++depth) {
        bool differ = false;
        for (const auto& frames : stacks) {
            if (depth >= frames.size()) {
                return SIZE_MAX;
            }
            differ = differ || frames[depth] != stacks.front()[depth];
        }
        if (differ) {
            return depth;
        }
    }
}

/// Returns the frames without the allocator's, the dispatcher's and the interpreter's.
std::vector<FrameId> telling_frames(const StackTable& table, StackId stack) {
    std::vector<FrameId> frames = table.frames_of(stack);
    std::erase_if(frames, [&](FrameId frame) { return table.role(frame) == FrameRole::plumbing; });
    return frames;
}

/// Distinguishes stacks through the same user line by the frame in which they differ ("→" callee, "←" caller), or by
/// a number.
void distinguish(const StackTable& table, Groups& groups) {
    std::map<std::string, std::vector<size_t>> by_name;
    for (size_t g = 0; g + 1 < groups.stack.size(); ++g) {
        by_name[groups.grouping.names[g]].push_back(g);
    }
    for (const auto& [name, same] : by_name) {
        if (same.size() < 2) {
            continue;
        }
        std::vector<std::vector<FrameId>> stacks;
        for (const size_t g : same) {
            stacks.push_back(telling_frames(table, groups.stack[g]));
        }
        const size_t depth = first_difference(stacks);
        std::map<std::string, int> used;
        for (size_t i = 0; i < same.size(); ++i) {
            std::string& text = groups.grouping.names[same[i]];
            if (depth != SIZE_MAX) {
                const FrameId user = table.site(groups.stack[same[i]]);
                const auto user_depth = std::find(stacks[i].begin(), stacks[i].end(), user) - stacks[i].begin();
                const bool called_by_user = static_cast<ptrdiff_t>(depth) < user_depth;
                text += (called_by_user ? " → " : " ← ") + describe_frame(table, stacks[i][depth]);
            }
            if (const int again = ++used[text]; again > 1) {
                text += " #" + std::to_string(again);
            }
        }
    }
}

/// Names groups of allocations without frames in the user's language.
bool has_no_stack(const DeviceHistory& device, AllocationIndex a, GroupBy by) {
    return by <= GroupBy::file && device.allocations.stack[a] == 0;
}

std::string rest_name() { return QCoreApplication::translate("Groups", "other").toStdString(); }

std::shared_ptr<Groups> one_group(const DeviceHistory& device, std::string name) {
    auto result = std::make_shared<Groups>();
    result->grouping.names.push_back(std::move(name));
    result->grouping.group_of.resize(device.allocations.size());
    result->stack.push_back(0);
    return result;
}

/// Returns the categories that occur, in their order; "unknown" comes last, also for memory newer than the graph.
std::shared_ptr<Groups> category_groups(const DeviceHistory& device, const Graph& graph, uint32_t position) {
    Grouping all = group_by_category(graph.categories, position);
    const auto rest = static_cast<uint16_t>(all.names.size() - 1);
    const uint32_t count = device.allocations.size();
    all.group_of.resize(count, rest);
    all.first_change.resize(size_t{count} + 1, static_cast<uint32_t>(all.changes.size()));
    std::vector<bool> occurs(all.names.size());
    for (const uint16_t g : all.group_of) {
        occurs[g] = true;
    }
    for (const GroupChange& change : all.changes) {
        occurs[change.group] = true;
    }
    const bool is_rest_empty = !occurs[rest];
    occurs[rest] = true;
    auto result = std::make_shared<Groups>();
    std::vector<uint16_t> place(all.names.size());
    for (size_t g = 0; g < all.names.size(); ++g) {
        if (occurs[g]) {
            place[g] = static_cast<uint16_t>(result->grouping.names.size());
            result->categories.push_back(category_from_name(all.names[g]));
            result->grouping.names.push_back(category_text(result->categories.back()).toStdString());
        }
    }
    const auto moved = [&](uint16_t g) { return place[g]; };
    std::transform(all.group_of.begin(), all.group_of.end(), all.group_of.begin(), moved);
    for (GroupChange& change : all.changes) {
        change.group = moved(change.group);
    }
    result->grouping.group_of = std::move(all.group_of);
    result->grouping.first_change = std::move(all.first_change);
    result->grouping.changes = std::move(all.changes);
    result->stack.resize(result->grouping.names.size());
    result->rest = result->count() - 1;
    result->is_rest_empty = is_rest_empty;
    return result;
}

std::shared_ptr<Groups> ranked_groups(const Analysis& analysis, GroupBy by, Grouper& grouper, uint32_t known,
                                      const Groups* before) {
    const DeviceHistory& device = analysis.device();
    const Weighed w = weigh(device, analysis.curves().peak(Series::active).max_event, grouper, known);
    const std::vector<uint32_t> ranked = before != nullptr ? largest_as_before(w, *before) : largest(w.bytes);

    auto result = std::make_shared<Groups>();
    result->rest = static_cast<int>(ranked.size());
    result->is_rest_empty = ranked.size() == w.bytes.size() && known == device.allocations.size();
    std::vector<uint16_t> position(w.bytes.size(), static_cast<uint16_t>(ranked.size()));
    for (const uint32_t g : ranked) {
        position[g] = static_cast<uint16_t>(result->grouping.names.size());
        result->grouping.names.push_back(has_no_stack(device, w.any[g], by)
                                             ? no_frames_text().toStdString()
                                             : group_text(by, grouper.name(g)).toStdString());
        result->stack.push_back(by == GroupBy::stack ? device.allocations.stack[w.any[g]] : 0);
        result->member.push_back(w.any[g]);
    }
    if (by == GroupBy::stack) {
        result->stack.push_back(0);
        distinguish(analysis.trace().stacks, *result);
        result->stack.pop_back();
    }
    result->grouping.names.push_back(rest_name());
    result->stack.push_back(0);
    result->grouping.group_of.resize(device.allocations.size(), static_cast<uint16_t>(result->rest));
    std::transform(w.group.begin(), w.group.end(), result->grouping.group_of.begin(),
                   [&](uint32_t g) { return position[g]; });
    return result;
}

std::shared_ptr<Groups> groups_without_sums(const Analysis& analysis, const GroupOption& choice,
                                            const std::shared_ptr<const Graph>& graph, const Groups* before) {
    const DeviceHistory& device = analysis.device();
    GroupOptions options;
    options.module_depth = choice.module_depth;
    if (!needs_graph(choice.by)) {
        Grouper grouper(analysis.trace(), device, choice.by, options);
        return ranked_groups(analysis, choice.by, grouper, device.allocations.size(), before);
    }
    // The graph's trace is the same one, or an earlier state of a growing run.
    const DeviceHistory* known = graph ? graph->index.trace().device(device.device) : nullptr;
    if (known == nullptr || graph->tables().empty()) {
        return one_group(device, group_text(GroupBy::category, "no graph recorded").toStdString());
    }
    const Trace& trace = graph->index.trace();
    if (choice.by == GroupBy::category) {
        return category_groups(device, *graph, static_cast<uint32_t>(known - trace.devices.data()));
    }
    options.categories = &graph->categories;
    Grouper grouper(trace, *known, choice.by, options);
    return ranked_groups(analysis, choice.by, grouper, std::min(known->allocations.size(), device.allocations.size()),
                         before);
}

}  // namespace

std::shared_ptr<const Groups> make_groups(const Analysis& analysis, const GroupOption& choice,
                                          const std::shared_ptr<const Graph>& graph, const Groups* before) {
    auto groups = groups_without_sums(analysis, choice, graph, before);
    groups->lasting = LastingBytes(analysis.device().allocations, analysis.live(), groups->grouping);
    return groups;
}

const std::vector<GroupOption>& group_options() {
    static const std::vector<GroupOption> choices = {
        {GroupBy::stack},     {GroupBy::line},       {GroupBy::file},   {GroupBy::size},      {GroupBy::stream},
        {GroupBy::pool},      {GroupBy::annotation}, {GroupBy::module}, {GroupBy::module, 1}, {GroupBy::module, 2},
        {GroupBy::module, 3}, {GroupBy::op},         {GroupBy::phase},  {GroupBy::step},      {GroupBy::category},
        {GroupBy::node},      {GroupBy::graph_step}};
    return choices;
}

QString group_option_name(const GroupOption& choice) {
    switch (choice.by) {
        case GroupBy::stack: return Naming::tr("stack");
        case GroupBy::line: return Naming::tr("line");
        case GroupBy::file: return Naming::tr("file");
        case GroupBy::size: return Naming::tr("size");
        case GroupBy::stream: return Naming::tr("stream");
        case GroupBy::pool: return Naming::tr("pool");
        case GroupBy::annotation: return Naming::tr("annotation");
        case GroupBy::module:
            return choice.module_depth == 0 ? Naming::tr("module")
                                            : Naming::tr("module, depth %1").arg(choice.module_depth);
        case GroupBy::op: return Naming::tr("operator");
        case GroupBy::phase: return Naming::tr("phase");
        case GroupBy::step: return Naming::tr("step");
        case GroupBy::category: return Naming::tr("category");
        case GroupBy::node: return Naming::tr("node of the graph");
        case GroupBy::graph_step: return Naming::tr("step that created the graph");
    }
    return {};
}

int place_of(const GroupOption& choice) {
    const auto& options = group_options();
    return static_cast<int>(std::find(options.begin(), options.end(), choice) - options.begin());
}

const Categories* categories_of(const std::shared_ptr<const Graph>& graph, const Trace& trace) {
    const bool is_of_trace = graph && !graph->tables().empty() && &graph->index.trace() == &trace;
    return is_of_trace ? &graph->categories : nullptr;
}

bool needs_graph(GroupBy by) { return by == GroupBy::category || by == GroupBy::node || by == GroupBy::graph_step; }

QColor color_of_group(const Theme& theme, const Groups& groups, int group) {
    const auto g = static_cast<size_t>(group);
    return group >= 0 && g < groups.categories.size() ? category_color(theme, groups.categories[g])
                                                      : group_color(theme, group, groups.count());
}

bool is_unknown(const Groups& groups, int group) {
    const auto g = static_cast<size_t>(group);
    return group >= 0 && g < groups.categories.size() && groups.categories[g] == Category::unknown;
}

}  // namespace tidemark::gui
