#include "gui/model/grouping.h"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>

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

std::string rest_name() { return QCoreApplication::translate("Groups", "the rest").toStdString(); }

}  // namespace

std::shared_ptr<const Groups> make_groups(const Analysis& analysis, GroupBy by) {
    const DeviceHistory& device = analysis.device();
    Grouper grouper(analysis.trace(), device, by);
    const Weighed w = weigh(device, analysis.curves().peak(Series::active).max_event, grouper);
    const std::vector<uint32_t> kept = largest(w.bytes);

    auto result = std::make_shared<Groups>();
    result->rest = static_cast<int>(kept.size());
    std::vector<uint16_t> position(w.bytes.size(), static_cast<uint16_t>(kept.size()));
    for (const uint32_t g : kept) {
        position[g] = static_cast<uint16_t>(result->grouping.names.size());
        result->grouping.names.push_back(grouper.name(g));
        result->stack.push_back(by == GroupBy::stack ? device.allocations.stack[w.any[g]] : 0);
    }
    result->grouping.names.push_back(rest_name());
    result->stack.push_back(0);
    result->grouping.group_of.resize(w.group.size());
    std::transform(w.group.begin(), w.group.end(), result->grouping.group_of.begin(),
                   [&](uint32_t g) { return position[g]; });
    return result;
}

}  // namespace tidemark::gui
