// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/histogram.h"

#include <gtest/gtest.h>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

constexpr int64_t millisecond = 1'000'000;

/// One event per millisecond.
struct SmallRun {
    DeviceHistory device;
    std::vector<AllocationIndex> all;

    SmallRun() {
        for (int64_t event = 0; event < 1000; ++event) {
            device.event_time.push_back(event * millisecond);
            device.event_ref.push_back({Action::alloc, 0});
        }
    }
    AllocationIndex add(EventNumber made, EventNumber freed, uint64_t bytes) {
        all.push_back(test::add_allocation(device, made, freed, freed, 0x1000, bytes, bytes, 0));
        return all.back();
    }
    Histograms histograms(std::span<const EventNumber> iterations = {}) const {
        return Histograms(device, all, iterations);
    }
};

TEST(Histogram, HasThreeBinsPerPowerOfTwoAndLeavesOutUnusedOnes) {
    SmallRun run;
    run.add(1, 2, 1 << 20);
    run.add(2, 3, (1 << 21) - 512);
    run.add(3, 4, 1 << 21);
    const Histograms found = run.histograms();
    const std::vector<HistogramBin> wanted{
        {1 << 20, 1398102}, {1398102, 1747627}, {1747627, 1 << 21}, {1 << 21, 2796203}};
    EXPECT_EQ(wanted, found.sizes());
    const std::vector<HistogramAmount> amounts{{1, 1 << 20}, {}, {1, (1 << 21) - 512}, {1, 1 << 21}};
    EXPECT_EQ(amounts, found.by_size());
    EXPECT_EQ((HistogramAmount{3, (1 << 20) + (1 << 22) - 512}), found.total());
}

TEST(Histogram, KeepsWhatIsNeverFreedInABinOfItsOwn) {
    SmallRun run;
    run.add(0, 1, 512);    // 1 ms
    run.add(10, 14, 512);  // 4 ms
    run.add(20, never, 1024);
    const Histograms found = run.histograms();
    const std::vector<HistogramBin> wanted{
        {1 * millisecond, 2 * millisecond}, {2 * millisecond, 5 * millisecond}, {0, 0, true}};
    EXPECT_EQ(HistogramOf::lifetime, found.lifetime_kind());
    EXPECT_EQ(wanted, found.lifetimes());
    EXPECT_EQ((std::vector<HistogramAmount>{{1, 512}, {1, 512}, {1, 1024}}), found.by_lifetime());
}

TEST(Histogram, OfOnlyUnfreedMemoryHasThatBinOnly) {
    SmallRun run;
    run.add(0, never, 512);
    EXPECT_EQ((std::vector<HistogramBin>{{0, 0, true}}), run.histograms().lifetimes());
    EXPECT_EQ(1, run.histograms().by_lifetime().back().allocations);
}

TEST(Histogram, CountsTheIterationsThatBeginWithinALifetime) {
    SmallRun run;
    const std::vector<EventNumber> begins{10, 20, 30, 40};
    run.add(10, 19, 512);  // within one iteration
    run.add(10, 20, 512);
    run.add(9, 45, 512);
    run.add(15, never, 512);
    const Histograms found = run.histograms(begins);
    EXPECT_EQ(HistogramOf::iterations, found.lifetime_kind());
    const std::vector<HistogramBin> wanted{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 6}, {0, 0, true}};
    EXPECT_EQ(wanted, found.lifetimes());
    std::vector<int64_t> counts;
    for (const HistogramAmount& amount : found.by_lifetime()) {
        counts.push_back(amount.allocations);
    }
    EXPECT_EQ((std::vector<int64_t>{1, 1, 0, 0, 1, 1}), counts);
}

TEST(Histogram, ARangeOfOneAxisShowsItsPartOfTheOther) {
    SmallRun run;
    const AllocationIndex small = run.add(0, 1, 512);
    run.add(0, 100, 512);
    const AllocationIndex large = run.add(1, 2, 1 << 20);
    run.add(1, never, 1 << 20);
    const Histograms found = run.histograms();
    const BinRange shortest{0, 0}, largest{found.sizes().size() - 1, found.sizes().size() - 1};
    EXPECT_EQ(512, found.by_size(shortest).front().bytes);
    EXPECT_EQ(1 << 20, found.by_size(shortest).back().bytes);
    EXPECT_EQ(1 << 20, found.by_lifetime(largest).back().bytes) << "never freed";
    EXPECT_EQ((std::vector{small, large}), found.allocations_in({}, shortest));
    EXPECT_EQ((std::vector{large}), found.allocations_in(largest, shortest));
    EXPECT_EQ(run.all, found.allocations_in({}, {}));
}

TEST(Histogram, OfNothingIsEmpty) {
    const Histograms found = SmallRun().histograms();
    EXPECT_TRUE(found.sizes().empty());
    EXPECT_TRUE(found.lifetimes().empty());
    EXPECT_EQ(HistogramAmount{}, found.total());
}

TEST(ActiveWithin, HasWhatExistsInAnyStateOfTheRange) {
    SmallRun run;
    run.add(0, 3, 512);
    const AllocationIndex until = run.add(1, 5, 512);
    const AllocationIndex within = run.add(6, 7, 512);
    const AllocationIndex from = run.add(7, never, 512);
    run.add(8, never, 512);
    EXPECT_EQ((std::vector{until, within, from}), active_within(run.device.allocations, 4, 8));
}

}  // namespace
}  // namespace tidemark
