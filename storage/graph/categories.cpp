// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/categories.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "storage/graph/distributed_memory.h"
#include "storage/graph/lists.h"

namespace tidemark {
namespace {

constexpr std::array<Category, category_count> strongest_first{
    Category::unsharded, Category::parameter, Category::buffer,        Category::optimizer_state,
    Category::gradient,  Category::saved,     Category::communication, Category::input,
    Category::workspace, Category::output,    Category::temporary,     Category::unknown};

/// Returns, by allocation, whether it was allocated in an op and freed before its thread allocated in another op or at
/// another line.
std::vector<bool> allocated_within_an_op(const Trace& trace, const Allocations& all) {
    struct Thread {
        uint32_t origin = UINT32_MAX;
        StackId stack = 0;
        EventNumber run_begins = never, next_run_begins = never;
    };
    std::unordered_map<int64_t, size_t> numbers;
    std::vector<size_t> thread_of;
    thread_of.reserve(trace.origins.size());
    for (const Origin& origin : trace.origins) {
        thread_of.push_back(numbers.try_emplace(origin.thread, numbers.size()).first->second);
    }
    std::vector<Thread> threads(numbers.size());
    std::vector<bool> within(all.size(), false);
    for (AllocationIndex a = all.size(); a-- > 0;) {
        const uint32_t origin = all.origin[a];
        if (origin >= thread_of.size()) {
            continue;
        }
        Thread& thread = threads[thread_of[origin]];
        if (thread.origin != origin || thread.stack != all.stack[a]) {
            thread = {origin, all.stack[a], never, thread.run_begins};
        }
        thread.run_begins = all.alloc_event[a];
        within[a] = !trace.origins[origin].op.empty() && all.free_event[a] < thread.next_run_begins;
    }
    return within;
}

/// Returns the stacks outside modules that compute something from what modules returned, such as losses and metrics: at
/// their first allocation, a forward pass of their thread had run, and no backward pass or optimizer step after it.
/// What loads or prepares a batch is first seen before a forward pass.
std::unordered_set<StackId> stacks_after_forward(const Trace& trace, const Allocations& all) {
    std::unordered_map<int64_t, bool> has_forward;  // by thread
    std::unordered_set<StackId> seen, after;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (all.origin[a] >= trace.origins.size() || all.stack[a] == 0) {
            continue;
        }
        const Origin& origin = trace.origins[all.origin[a]];
        bool& is_after = has_forward[origin.thread];
        if (origin.phase == Phase::backward || origin.phase == Phase::optimizer) {
            is_after = false;
        } else if (!origin.module.empty()) {
            is_after = true;
        } else if (seen.insert(all.stack[a]).second && is_after) {
            after.insert(all.stack[a]);
        }
    }
    return after;
}

std::vector<bool> phases_without_graph(const Trace& trace) {
    std::vector<bool> without;
    without.reserve(trace.origins.size());
    for (const Origin& origin : trace.origins) {
        without.push_back(origin.phase == Phase::backward || origin.phase == Phase::optimizer);
    }
    return without;
}

/// Returns nothing if the use does not tell the category.
std::optional<Category> category_of(DistributedUse use) {
    switch (use) {
        case DistributedUse::unsharded: return Category::unsharded;
        case DistributedUse::communication:
        case DistributedUse::reduction: return Category::communication;
        case DistributedUse::tensor:
        case DistributedUse::other: break;
    }
    return std::nullopt;
}

bool has_label(const std::vector<CategoryLabel>& labels, std::span<const uint32_t> own, Category category) {
    return std::any_of(own.begin(), own.end(), [&](uint32_t l) { return labels[l].category == category; });
}

/// Sorts the changes in the lifetime of one allocation after another.
class Lifetime {
public:
    void begin(int64_t alloc_time, int64_t end, Category base) {
        alloc_time_ = alloc_time;
        end_ = end;
        boundaries_.clear();
        open_.fill(0);
        open_[static_cast<size_t>(base)] = 1;
    }
    void add_range(Category category, int64_t from, int64_t to) {
        from = std::max(from, alloc_time_);
        if (from < to && from < end_) {
            boundaries_.push_back({from, category, 1});
            if (to < end_) {
                boundaries_.push_back({to, category, -1});
            }
        }
    }
    /// Appends the later categories. Returns the first one.
    Category write(std::vector<CategoryChange>& later) {
        std::sort(boundaries_.begin(), boundaries_.end(),
                  [](const Boundary& a, const Boundary& b) { return a.time < b.time; });
        size_t next = open_until(0, alloc_time_);
        const Category first = strongest();
        for (Category last = first; next < boundaries_.size();) {
            const int64_t time = boundaries_[next].time;
            next = open_until(next, time);
            if (last != strongest()) {
                last = strongest();
                later.push_back({time, last});
            }
        }
        return first;
    }

private:
    struct Boundary {
        int64_t time;
        Category category;
        int32_t step;
    };
    /// Passes the boundaries up to a time. Returns the next one.
    size_t open_until(size_t next, int64_t time) {
        for (; next < boundaries_.size() && boundaries_[next].time <= time; ++next) {
            open_[static_cast<size_t>(boundaries_[next].category)] += boundaries_[next].step;
        }
        return next;
    }
    Category strongest() const {
        return *std::find_if(strongest_first.begin(), strongest_first.end(),
                             [&](Category c) { return c == Category::unknown || open_[static_cast<size_t>(c)] > 0; });
    }

    int64_t alloc_time_ = 0, end_ = 0;
    std::vector<Boundary> boundaries_;
    std::array<int32_t, category_count> open_{};
};

/// A label is valid until a label `unknown`. The recorder labels all that is made outside modules `input`; `input`: the
/// category of that.
void add_labels(Lifetime& lifetime, const std::vector<CategoryLabel>& labels, std::span<const uint32_t> own,
                Category input) {
    int64_t since = INT64_MIN;
    for (auto label = own.begin(); label != own.end(); ++label) {
        const auto end =
            std::find_if(label, own.end(), [&](uint32_t l) { return labels[l].category == Category::unknown; });
        const int64_t until = end == own.end() ? INT64_MAX : labels[*end].time;
        for (; label != end; ++label) {
            const CategoryLabel& current = labels[*label];
            lifetime.add_range(current.category == Category::input ? input : current.category,
                               is_valid_from_alloc(current.category) ? since : current.time, until);
        }
        if (end == own.end()) {
            return;
        }
        since = until;
    }
}

void add_saved(Lifetime& lifetime, const GraphIndex& index, AllocationRef allocation) {
    const GraphNodes& nodes = index.tables().nodes;
    for (const uint32_t s : index.saved_in(allocation)) {
        const NodeIndex node = index.saver(s);
        lifetime.add_range(Category::saved, nodes.created[node], std::min(nodes.released[node], nodes.destroyed[node]));
    }
}

}  // namespace

bool is_valid_from_alloc(Category category) { return category != Category::gradient; }

Categories::Categories(const GraphIndex& index) : index_(index), name_(index.places(), 0) {
    const auto& labels = index.tables().labels;
    const auto place_of = [&](size_t label) {
        return labels[label].allocation ? index.place(labels[label].allocation) : no_owner;
    };
    const Lists labels_of(index.places(), labels.size(), place_of);
    for (size_t l = 0; l < labels.size(); ++l) {
        if (labels[l].name != 0 && place_of(l) != no_owner) {
            name_[place_of(l)] = labels[l].name;
        }
    }
    first_.reserve(index.places());
    first_later_.reserve(index.places() + 1);
    for (uint32_t d = 0; d < index.trace().devices.size(); ++d) {
        read_device(d, labels_of);
    }
}

void Categories::read_device(uint32_t d, const Lists& labels_of) {
    const Trace& trace = index_.trace();
    const DeviceHistory& device = trace.devices[d];
    const Allocations& all = device.allocations;
    const std::vector<bool> within_op = allocated_within_an_op(trace, all), without_graph = phases_without_graph(trace);
    const auto labels = [&](AllocationIndex a) { return labels_of.of(index_.place({d, a})); };
    const std::unordered_set<StackId> after_forward = stacks_after_forward(trace, all);
    const std::vector<DistributedUse> uses = distributed_uses(trace.stacks);
    const std::vector<bool> gradients = distributed_gradients(trace, device, uses, [&](AllocationIndex a) {
        return has_label(index_.tables().labels, labels(a), Category::parameter);
    });
    Lifetime lifetime;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const AllocationRef allocation{d, a};
        const bool temporary = within_op[a] || (all.origin[a] < without_graph.size() && without_graph[all.origin[a]]);
        const Category base = index_.maker(allocation) != no_node ? Category::output
                              : temporary                         ? Category::temporary
                                                                  : Category::unknown;
        lifetime.begin(device.alloc_time(a), device.free_time(a).value_or(INT64_MAX),
                       gradients[a] ? Category::gradient : category_of(uses[all.stack[a]]).value_or(base));
        add_labels(lifetime, index_.tables().labels, labels(a),
                   after_forward.contains(all.stack[a]) ? Category::output : Category::input);
        add_saved(lifetime, index_, allocation);
        first_.push_back(lifetime.write(later_));
        first_later_.push_back(static_cast<uint32_t>(later_.size()));
    }
}

Category Categories::first(AllocationRef allocation) const {
    return allocation ? first_[index_.place(allocation)] : Category::unknown;
}

std::span<const CategoryChange> Categories::later(AllocationRef allocation) const {
    if (!allocation) {
        return {};
    }
    const size_t place = index_.place(allocation);
    return {later_.data() + first_later_[place], later_.data() + first_later_[place + 1]};
}

std::vector<CategoryChange> Categories::history(AllocationRef allocation) const {
    std::vector<CategoryChange> all;
    if (allocation) {
        all.push_back({index_.trace().devices[allocation.device].alloc_time(allocation.index), first(allocation)});
        const auto more = later(allocation);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

Category Categories::at(AllocationRef allocation, int64_t time) const {
    const auto changes = later(allocation);
    const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                        [](int64_t t, const CategoryChange& change) { return t < change.time; });
    return after == changes.begin() ? first(allocation) : std::prev(after)->category;
}

const std::string& Categories::name(AllocationRef allocation) const {
    return index_.tables().texts[allocation ? name_[index_.place(allocation)] : 0];
}

bool is_retained_outside_graph(Category category) {
    return category == Category::parameter || category == Category::buffer || category == Category::gradient ||
           category == Category::optimizer_state || category == Category::unsharded;
}

LabelName parts_of_label(std::string_view name) {
    constexpr std::string_view of = " of ", as = " as ";
    LabelName parts;
    if (const size_t end = name.rfind(as); end != name.npos) {
        parts.placements = name.substr(end + as.size());
        name = name.substr(0, end);
    }
    if (const size_t end = name.rfind(of); end != name.npos) {
        parts.state = name.substr(0, end);
        name = name.substr(end + of.size());
    }
    parts.tensor = name;
    return parts;
}

std::string_view labeled_tensor(std::string_view name) { return parts_of_label(name).tensor; }

bool is_retained_by_model_or_library(Category category) {
    return is_retained_outside_graph(category) || category == Category::workspace;
}

}  // namespace tidemark
