// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

/// A device with one event for each allocation and each free, in this order.
struct TenEvents {
    Trace trace;
    DeviceHistory device;

    TenEvents() { trace.origins = {Origin{}}; }
    AllocationIndex add(const char* file, EventNumber made, EventNumber freed, uint64_t bytes) {
        const std::array frames{
            trace.stacks.intern(Frame{trace.stacks.intern("step"), trace.stacks.intern(std::string(file)), 1})};
        test::add_allocation(device, made, freed, freed, 0x1000, bytes, bytes, trace.stacks.intern_stack(frames));
        return device.allocations.size() - 1;
    }
    Changes between(EventNumber begin, EventNumber end) {
        for (EventNumber event = static_cast<EventNumber>(device.event_time.size()); event < 10; ++event) {
            device.event_time.push_back(event);
            device.event_ref.push_back({Action::alloc, 0});
        }
        return changes_between(trace, device, AliveIndex(device.allocations), begin, end, GroupBy::file);
    }
};

const ChangedGroup& group_of(const Changes& changes, std::string_view name) {
    return *std::find_if(changes.groups.begin(), changes.groups.end(),
                         [&](const ChangedGroup& group) { return group.name == name; });
}

TEST(Changes, TellWhatIsNewAndWhatWasFreed) {
    TenEvents run;
    run.add("stays.py", 0, never, 100);
    run.add("goes.py", 1, 5, 2000);
    const AllocationIndex first = run.add("grows.py", 4, never, 10);
    run.add("grows.py", 4, 6, 3000);  // within the range only
    const AllocationIndex second = run.add("grows.py", 7, never, 20);
    run.add("later.py", 9, never, 5);
    const Changes changes = run.between(3, 8);
    ASSERT_EQ(3u, changes.groups.size());
    EXPECT_EQ("goes.py", changes.groups[0].name) << "the largest difference first";
    EXPECT_EQ(-2000, changes.groups[0].difference());
    EXPECT_EQ(2000, changes.groups[0].freed.bytes);
    const ChangedGroup& grows = group_of(changes, "grows.py");
    EXPECT_EQ(30, grows.difference());
    EXPECT_EQ(2, grows.made.count);
    EXPECT_EQ(0, grows.freed.count);
    EXPECT_EQ((std::vector{first, second}), grows.new_allocations);
    EXPECT_EQ(0, group_of(changes, "stays.py").difference());
    EXPECT_EQ(100, group_of(changes, "stays.py").end.bytes);
    EXPECT_EQ(2100, changes.total.begin.bytes);
    EXPECT_EQ(130, changes.total.end.bytes);
    EXPECT_EQ(30, changes.total.made.bytes);
    EXPECT_EQ(2000, changes.total.freed.bytes);
}

TEST(Changes, OfOnePointAreNone) {
    TenEvents run;
    run.add("stays.py", 0, never, 100);
    const Changes changes = run.between(3, 3);
    EXPECT_EQ(0, changes.total.difference());
    EXPECT_EQ(0, changes.total.made.count + changes.total.freed.count);
    EXPECT_TRUE(run.between(0, 0).groups.empty());
}

}  // namespace
}  // namespace tidemark
