// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "storage/base/units.h"
#include "storage/replay/active_walk.h"

namespace tidemark {
namespace {

constexpr std::array<std::pair<std::string_view, GroupBy>, 14> names_of_groups{{{"stack", GroupBy::stack},
                                                                                {"line", GroupBy::line},
                                                                                {"file", GroupBy::file},
                                                                                {"size", GroupBy::size},
                                                                                {"stream", GroupBy::stream},
                                                                                {"pool", GroupBy::pool},
                                                                                {"annotation", GroupBy::annotation},
                                                                                {"module", GroupBy::module},
                                                                                {"op", GroupBy::op},
                                                                                {"phase", GroupBy::phase},
                                                                                {"step", GroupBy::step},
                                                                                {"category", GroupBy::category},
                                                                                {"node-type", GroupBy::node},
                                                                                {"graph_step", GroupBy::graph_step}}};

constexpr std::string_view no_frame = "no Python frame";
constexpr std::string_view no_site = "no site: only frames of the allocator and the interpreter";
constexpr std::string_view no_file = "no Python file: C++ code";

/// Finds the innermost annotation at a time, for one device: the last opened of those still open.
class InnermostAnnotations {
public:
    static constexpr uint32_t none = UINT32_MAX;

    InnermostAnnotations(const Trace& trace, const DeviceHistory& device);
    /// Returns a number for the annotation's name. Annotations that repeat every step share one number.
    uint32_t at(int64_t time) const;
    std::string_view name(uint32_t number) const { return names_[number]; }

private:
    struct Edge {
        int64_t time;
        bool opens;
        uint32_t name;
    };
    struct Change {
        int64_t time;
        uint32_t innermost;
    };
    std::vector<Edge> edges_of(const Trace& trace, const DeviceHistory& device);

    std::vector<std::string_view> names_;
    std::vector<Change> changes_;
};

std::vector<InnermostAnnotations::Edge> InnermostAnnotations::edges_of(const Trace& trace,
                                                                       const DeviceHistory& device) {
    std::unordered_map<std::string_view, uint32_t> numbers;
    std::vector<Edge> edges;
    for (const Annotation& annotation : trace.annotations) {
        if (annotation.device >= 0 && annotation.device != device.device) {
            continue;
        }
        const auto [number, is_new] = numbers.try_emplace(annotation.name, static_cast<uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(annotation.name);
        }
        edges.push_back({annotation.start, true, number->second});
        edges.push_back({annotation.closed ? annotation.end : INT64_MAX, false, number->second});
    }
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time < b.time; });
    return edges;
}

InnermostAnnotations::InnermostAnnotations(const Trace& trace, const DeviceHistory& device) {
    std::vector<uint32_t> open;
    for (const Edge& edge : edges_of(trace, device)) {
        if (edge.opens) {
            open.push_back(edge.name);
        } else if (const auto found = std::find(open.rbegin(), open.rend(), edge.name); found != open.rend()) {
            open.erase(std::next(found).base());
        }
        changes_.push_back({edge.time, open.empty() ? none : open.back()});
    }
}

uint32_t InnermostAnnotations::at(int64_t time) const {
    const auto after = std::upper_bound(changes_.begin(), changes_.end(), time,
                                        [](int64_t t, const Change& change) { return t < change.time; });
    return after == changes_.begin() ? none : std::prev(after)->innermost;
}

/// Maps the module, op or phase of an origin to a number. Origins with the same text share one number.
class OriginTexts {
public:
    template <class TextOf>
    OriginTexts(const Trace& trace, TextOf&& text_of) {
        std::unordered_map<std::string_view, uint32_t> numbers{{"", 0}};
        for (const Origin& origin : trace.origins) {
            const std::string_view text = text_of(origin);
            const auto [number, is_new] = numbers.try_emplace(text, static_cast<uint32_t>(texts_.size()));
            if (is_new) {
                texts_.push_back(text);
            }
            of_origin_.push_back(number->second);
        }
    }
    uint32_t of(uint32_t origin) const { return origin < of_origin_.size() ? of_origin_[origin] : 0; }
    std::string_view text(uint32_t number) const { return texts_[number]; }

private:
    std::vector<std::string_view> texts_{""};
    std::vector<uint32_t> of_origin_;
};

std::string_view phase_text(const Fact<Phase>& phase) {
    return phase == Phase::named ? std::string_view(phase.text) : word_of(phase.kind);
}

std::string_view origin_text(const Origin& origin, GroupBy by, int module_depth) {
    return by == GroupBy::module ? module_at_depth(origin.module, module_depth)
           : by == GroupBy::op   ? std::string_view(origin.op)
                                 : phase_text(origin.phase);
}

std::string_view unknown_group_name(GroupBy by) {
    return by == GroupBy::module ? "no module" : by == GroupBy::op ? "no operator" : "no phase";
}

std::string stream_name(const Trace& trace, uint32_t index) {
    const Stream& stream = trace.streams[index];
    if (!stream.name.empty()) {
        return stream.name;
    }
    return stream.handle == 0 ? "stream 0" : "stream " + format_address(stream.handle);
}

}  // namespace

Result<GroupBy> group_by_from_name(std::string_view name) {
    for (const auto& [known, by] : names_of_groups) {
        if (known == name) {
            return by;
        }
    }
    return usage_error("\"{text}\" is not a way to group memory; use {ways}.", with("text", name),
                       with("ways", group_by_names()));
}

std::string group_by_names() {
    std::string text;
    for (const auto& entry : names_of_groups) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", entry.first);
    }
    return text;
}

std::string_view module_at_depth(std::string_view module, int depth) {
    size_t end = 0;
    for (; depth > 0 && end != module.npos; --depth) {
        end = module.find('.', end == 0 ? 0 : end + 1);
    }
    return module.substr(0, end == 0 ? module.npos : end);
}

/// Maps allocations to the number of their group, and numbers to the group's name.
class Grouper::Keys {
public:
    Keys(const Trace& trace, const DeviceHistory& device, GroupBy by, const GroupOptions& options)
        : trace_(trace), device_(device), by_(by), options_(options) {
        if (by == GroupBy::annotation) {
            annotations_.emplace(trace, device);
        } else if (by == GroupBy::module || by == GroupBy::op || by == GroupBy::phase) {
            origins_.emplace(trace,
                             [&](const Origin& origin) { return origin_text(origin, by, options.module_depth); });
        }
    }

    GroupBy by() const { return by_; }
    void set_time(int64_t time) { options_.time = time; }
    uint64_t key_of(AllocationIndex a);
    std::string name_of(AllocationIndex a);

    static constexpr uint32_t no_group = UINT32_MAX;
    /// Returns where the group of a small key is kept, at first no_group; nullptr for a large key. Most keys count
    /// something, and a table is far faster than hashing each.
    uint32_t* group_of_small_key(uint64_t key) {
        constexpr uint64_t most_small_keys = 1 << 16;
        if (key >= most_small_keys) {
            return nullptr;
        }
        if (key >= group_of_small_key_.size()) {
            group_of_small_key_.resize(std::bit_ceil(key + 1), no_group);
        }
        return &group_of_small_key_[key];
    }

private:
    static constexpr uint64_t nothing = UINT64_MAX;
    static constexpr uint64_t before_trace = UINT64_MAX - 1;
    static constexpr uint64_t no_graph = UINT64_MAX - 2;
    static constexpr uint64_t outside_steps = UINT64_MAX - 3;
    static constexpr uint64_t only_plumbing = UINT64_MAX - 4;
    static constexpr uint64_t in_native_code = UINT64_MAX - 5;

    FrameId site_of(AllocationIndex a) const { return trace_.stacks.site(device_.allocations.stack[a]); }
    uint64_t line_of(AllocationIndex a) const;
    uint64_t file_of(AllocationIndex a) const;
    std::string site_name(AllocationIndex a) const;
    uint64_t annotation_of(AllocationIndex a) const;
    uint64_t step_of(AllocationIndex a) const;
    uint64_t graph_key_of(AllocationIndex a) const;
    std::string graph_name_of(uint64_t key) const;

    const Trace& trace_;
    const DeviceHistory& device_;
    GroupBy by_;
    GroupOptions options_;
    std::optional<InnermostAnnotations> annotations_;
    std::optional<OriginTexts> origins_;
    std::vector<uint32_t> group_of_small_key_;
};

uint64_t Grouper::Keys::line_of(AllocationIndex a) const {
    const FrameId site = site_of(a);
    return site == 0 && device_.allocations.stack[a] != 0 ? only_plumbing : site;
}

uint64_t Grouper::Keys::file_of(AllocationIndex a) const {
    const uint64_t line = line_of(a);
    if (line == 0 || line == only_plumbing) {
        return line;
    }
    const auto site = static_cast<FrameId>(line);
    return is_python(trace_.stacks.role(site)) ? trace_.stacks.frame(site).file : in_native_code;
}

std::string Grouper::Keys::site_name(AllocationIndex a) const {
    const uint64_t line = line_of(a);
    return line == 0               ? std::string(no_frame)
           : line == only_plumbing ? std::string(no_site)
                                   : describe_frame(trace_.stacks, static_cast<FrameId>(line));
}

uint64_t Grouper::Keys::annotation_of(AllocationIndex a) const {
    if (device_.allocations.alloc_event[a] == before_history) {
        return before_trace;
    }
    const uint32_t found = annotations_->at(device_.alloc_time(a));
    return found == InnermostAnnotations::none ? nothing : found;
}

uint64_t Grouper::Keys::step_of(AllocationIndex a) const {
    if (device_.allocations.alloc_event[a] == before_history) {
        return before_trace;
    }
    const int64_t time = device_.alloc_time(a);
    const auto after = std::upper_bound(trace_.steps.begin(), trace_.steps.end(), time,
                                        [](int64_t t, const Step& step) { return t < step.start; });
    if (after == trace_.steps.begin() || std::prev(after)->end.value_or(INT64_MAX) < time) {
        return nothing;
    }
    return static_cast<uint64_t>(std::prev(after) - trace_.steps.begin());
}

uint64_t Grouper::Keys::key_of(AllocationIndex a) {
    const uint32_t segment = device_.allocations.segment[a];
    switch (by_) {
        case GroupBy::stack: return device_.allocations.stack[a];
        case GroupBy::line: return line_of(a);
        case GroupBy::file: return file_of(a);
        case GroupBy::size: return device_.allocations.requested[a];
        case GroupBy::stream: return segment == no_segment ? nothing : device_.segments[segment].stream;
        case GroupBy::pool:
            return segment == no_segment || !device_.segments[segment].pool_known ? nothing
                                                                                  : device_.segments[segment].pool;
        case GroupBy::annotation: return annotation_of(a);
        case GroupBy::module:
        case GroupBy::op:
        case GroupBy::phase: return origins_->of(device_.allocations.origin[a]);
        case GroupBy::step: return step_of(a);
        case GroupBy::category:
        case GroupBy::node:
        case GroupBy::graph_step: return graph_key_of(a);
    }
    return nothing;
}

uint64_t Grouper::Keys::graph_key_of(AllocationIndex a) const {
    if (options_.categories == nullptr) {
        return no_graph;
    }
    const AllocationRef memory{static_cast<uint32_t>(&device_ - trace_.devices.data()), a};
    if (by_ == GroupBy::category) {
        return static_cast<uint64_t>(options_.categories->at(memory, options_.time));
    }
    const GraphIndex& index = options_.categories->index();
    const auto saved = index.saved_in(memory);
    const NodeIndex maker = index.maker(memory);
    const NodeIndex node = maker == no_node && !saved.empty() ? index.saver(saved.front()) : maker;
    if (node == no_node) {
        return nothing;
    }
    if (by_ == GroupBy::node) {
        return index.tables().nodes.type[node];
    }
    const int32_t step = index.step_of(node);
    return step < 0 ? outside_steps : static_cast<uint64_t>(step);
}

std::string Grouper::Keys::graph_name_of(uint64_t key) const {
    return key == no_graph            ? "no graph recorded"
           : by_ == GroupBy::category ? std::string(category_name(static_cast<Category>(key)))
           : key == nothing           ? "no node"
           : by_ == GroupBy::node     ? options_.categories->index().tables().texts[key]
           : key == outside_steps     ? "outside steps"
                                      : fmt::format("step {}", trace_.steps[key].number);
}

std::string Grouper::Keys::name_of(AllocationIndex a) {
    const uint64_t key = key_of(a);
    switch (by_) {
        case GroupBy::stack:
        case GroupBy::line: return site_name(a);
        case GroupBy::file:
            return key == 0                ? std::string(no_frame)
                   : key == only_plumbing  ? std::string(no_site)
                   : key == in_native_code ? std::string(no_file)
                                           : trace_.stacks.string(static_cast<StringId>(key));
        case GroupBy::size: return format_bytes(static_cast<int64_t>(key));
        case GroupBy::stream:
            return key == nothing ? "unknown stream" : stream_name(trace_, static_cast<uint32_t>(key));
        case GroupBy::pool: return key == nothing ? "unknown pool" : trace_.pools[key].describe();
        case GroupBy::annotation:
            return key == nothing        ? "outside annotations"
                   : key == before_trace ? "before the trace"
                                         : std::string(annotations_->name(static_cast<uint32_t>(key)));
        case GroupBy::module:
        case GroupBy::op:
        case GroupBy::phase: {
            const std::string_view text = origins_->text(static_cast<uint32_t>(key));
            return std::string(text.empty() ? unknown_group_name(by_) : text);
        }
        case GroupBy::step:
            return key == nothing        ? "outside steps"
                   : key == before_trace ? "before the trace"
                                         : fmt::format("step {}", trace_.steps[key].number);
        case GroupBy::category:
        case GroupBy::node:
        case GroupBy::graph_step: return graph_name_of(key);
    }
    return {};
}

Grouper::Grouper(const Trace& trace, const DeviceHistory& device, GroupBy by, const GroupOptions& options)
    : keys_(std::make_unique<Keys>(trace, device, by, options)) {}
Grouper::~Grouper() = default;

uint32_t Grouper::group_of(AllocationIndex a) {
    const uint64_t key = keys_->key_of(a);
    uint32_t* const small = keys_->group_of_small_key(key);
    if (small != nullptr && *small != Keys::no_group) {
        return *small;
    }
    const uint32_t group = group_of_key(key, a);
    if (small != nullptr) {
        *small = group;
    }
    return group;
}

uint32_t Grouper::group_of_key(uint64_t key, AllocationIndex a) {
    const auto [entry, is_new] = group_of_key_.try_emplace(key, group_count());
    if (!is_new) {
        return entry->second;
    }
    std::string name = keys_->name_of(a);
    if (keys_->by() == GroupBy::size) {
        // Sizes with the same text are one group. Otherwise lengths that vary a little would fill the list.
        if (const auto same = std::find(names_.begin(), names_.end(), name); same != names_.end()) {
            entry->second = static_cast<uint32_t>(same - names_.begin());
            return entry->second;
        }
    }
    names_.push_back(std::move(name));
    return entry->second;
}

void Grouper::set_time(int64_t time) { keys_->set_time(time); }

const std::string& Grouper::name(uint32_t group) const { return names_[group]; }
uint32_t Grouper::group_count() const { return static_cast<uint32_t>(names_.size()); }

std::vector<AttributionGroup> attribution_at(const Trace& trace, const DeviceHistory& device, const AliveIndex& live,
                                             const TimePoint& point, GroupBy by, const GroupOptions& options) {
    const Allocations& allocations = device.allocations;
    const bool has_stack = by == GroupBy::stack || by == GroupBy::line || by == GroupBy::file;
    Grouper grouper(trace, device, by, options);
    std::vector<AttributionGroup> groups;
    std::optional<EventNumber> state;
    for (const ActiveAllocation& active : active_allocations(device, live, point)) {
        const AllocationIndex a = active.allocation;
        if (active.state != state) {
            state = active.state;
            grouper.set_time(device.time_until(*state, trace.duration));
        }
        const uint32_t index = grouper.group_of(a);
        if (index == groups.size()) {
            groups.emplace_back().name = grouper.name(index);
        }
        AttributionGroup& group = groups[index];
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        ++group.allocations;
        group.requested += static_cast<int64_t>(allocations.requested[a]);
        group.block_bytes += bytes;
        group.pending += active.is_pending(allocations) ? bytes : 0;
        if (group.largest == no_allocation || allocations.block_size[a] > allocations.block_size[group.largest]) {
            group.largest = a;
            group.stack = has_stack ? allocations.stack[a] : 0;
        }
    }
    std::stable_sort(groups.begin(), groups.end(), [](const AttributionGroup& a, const AttributionGroup& b) {
        return a.block_bytes > b.block_bytes;
    });
    return groups;
}

std::string group_name(const Trace& trace, const DeviceHistory& device, AllocationIndex a, GroupBy by,
                       const GroupOptions& options) {
    Grouper grouper(trace, device, by, options);
    return grouper.name(grouper.group_of(a));
}

}  // namespace tidemark
