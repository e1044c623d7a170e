#include "gui/model/grouping.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <numeric>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Weighed {
    std::vector<uint32_t> group;       // of each allocation
    std::vector<double> bytes;         // of each group: what it is ranked by
    std::vector<AllocationIndex> any;  // a member of each group
};

Weighed weigh(const DeviceHistory& device, EventNumber peak, Grouper& grouper) {
    const Allocations& all = device.allocations;
    const double events = std::max<double>(device.event_count(), 1);
    Weighed w;
    w.group.resize(all.size());
    std::vector<double> at_peak, over_time;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const uint32_t g = grouper.group_of(a);
        w.group[a] = g;
        if (g >= at_peak.size()) {
            at_peak.resize(g + 1, 0);
            over_time.resize(g + 1, 0);
            w.any.resize(g + 1, a);
        }
        const double bytes = static_cast<double>(all.block_size[a]);
        const double end = std::min<double>(all.done_event[a], events);
        over_time[g] += bytes * (end - std::max<double>(all.alloc_event[a], 0)) / events;
        if (all.alloc_event[a] < peak && peak <= all.done_event[a]) {
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
    const size_t keep = std::min<size_t>(order.size(), most_groups - 1);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(keep), order.end(),
                      [&](uint32_t a, uint32_t b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
    order.resize(keep);
    return order;
}

/// The groups worth a colour, those of `before` in their old places. They count for more, so that two of about equal
/// size do not take turns.
std::vector<uint32_t> largest_as_before(Weighed w, const Groups& before) {
    constexpr double seniority = 1.25;
    std::vector<uint32_t> old;
    for (const AllocationIndex a : before.member) {
        if (a < w.group.size()) {
            old.push_back(w.group[a]);
            w.bytes[old.back()] *= seniority;
        }
    }
    std::vector<uint32_t> kept = largest(w.bytes);
    const auto newcomers = std::stable_partition(
        kept.begin(), kept.end(), [&](uint32_t g) { return std::find(old.begin(), old.end(), g) != old.end(); });
    std::vector<uint32_t> result;
    auto next = newcomers;
    for (const uint32_t g : old) {
        if (std::find(kept.begin(), newcomers, g) != newcomers) {
            result.push_back(g);
        } else if (next != kept.end()) {
            result.push_back(*next++);
        }
    }
    result.insert(result.end(), next, kept.end());
    return result;
}

/// Where the stacks differ first, walking outwards from the allocation; SIZE_MAX if one is the other's beginning.
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

/// Different stacks through the same user line: says which frame tells them apart ("→" what it called, "←" what called
/// it), or numbers them.
void tell_apart(const StackTable& table, Groups& groups) {
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
            stacks.push_back(table.frames_of(groups.stack[g]));
        }
        const size_t depth = first_difference(stacks);
        std::map<std::string, int> used;
        for (size_t i = 0; i < same.size(); ++i) {
            std::string& text = groups.grouping.names[same[i]];
            if (depth != SIZE_MAX) {
                const FrameId user = table.user_frame(groups.stack[same[i]]);
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

/// Groups of allocations without any frame: named in the user's language.
bool has_no_stack(const DeviceHistory& device, AllocationIndex a, GroupBy by) {
    return by <= GroupBy::file && device.allocations.stack[a] == 0;
}

std::string rest_name() { return QCoreApplication::translate("Groups", "the rest").toStdString(); }

}  // namespace

std::shared_ptr<const Groups> make_groups(const Analysis& analysis, GroupBy by, const Groups* before) {
    const DeviceHistory& device = analysis.device();
    Grouper grouper(analysis.trace(), device, by);
    const Weighed w = weigh(device, analysis.curves().peak(Series::active).max_event, grouper);
    const std::vector<uint32_t> kept = before != nullptr ? largest_as_before(w, *before) : largest(w.bytes);

    auto result = std::make_shared<Groups>();
    result->rest = static_cast<int>(kept.size());
    std::vector<uint16_t> position(w.bytes.size(), static_cast<uint16_t>(kept.size()));
    for (const uint32_t g : kept) {
        position[g] = static_cast<uint16_t>(result->grouping.names.size());
        result->grouping.names.push_back(has_no_stack(device, w.any[g], by) ? no_frames_text().toStdString()
                                                                            : grouper.name(g));
        result->stack.push_back(by == GroupBy::stack ? device.allocations.stack[w.any[g]] : 0);
        result->member.push_back(w.any[g]);
    }
    if (by == GroupBy::stack) {
        result->stack.push_back(0);
        tell_apart(analysis.trace().stacks, *result);
        result->stack.pop_back();
    }
    result->grouping.names.push_back(rest_name());
    result->stack.push_back(0);
    result->grouping.group_of.resize(w.group.size());
    std::transform(w.group.begin(), w.group.end(), result->grouping.group_of.begin(),
                   [&](uint32_t g) { return position[g]; });
    return result;
}

}  // namespace tidemark::gui
