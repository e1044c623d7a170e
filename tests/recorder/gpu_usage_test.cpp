// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Attribution of a process's memory in nvidia-smi to its context and its kernels.
#include "recorder/daemon/gpu_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "storage/read/open_trace.h"

namespace tidemark::recorder {
namespace {

constexpr int64_t mib = 1 << 20;

void expect_growth(DriverMemoryKind kind, int64_t bytes, const std::vector<ContextGrowth::Growth>& growths) {
    ASSERT_EQ(1u, growths.size());
    EXPECT_EQ(kind, growths[0].kind);
    EXPECT_EQ(bytes, growths[0].bytes);
}

TEST(ContextGrowth, AttributesTheFirstUnknownMemoryToTheContext) {
    ContextGrowth growth;
    expect_growth(DriverMemoryKind::context, 500 * mib, growth.attribute({600 * mib, 100 * mib, 0, 5}));
}

TEST(ContextGrowth, AttributesLaterGrowthToKernelsOnlyIfModulesWereLoaded) {
    ContextGrowth growth;
    growth.attribute({500 * mib, 0, 1, 0});
    EXPECT_TRUE(growth.attribute({540 * mib, 0, 1, 0}).empty()) << "no module was loaded";
    expect_growth(DriverMemoryKind::kernels, 50 * mib, growth.attribute({550 * mib, 0, 1, 3}));
    EXPECT_TRUE(growth.attribute({550 * mib, 0, 1, 9}).empty()) << "the modules took no memory";
    EXPECT_TRUE(growth.attribute({650 * mib, 100 * mib, 1, 12}).empty()) << "a known allocation";
    expect_growth(DriverMemoryKind::context, 300 * mib, growth.attribute({950 * mib, 100 * mib, 2, 12}));
}

TEST(ContextGrowth, TheContextIsNoLargerThanAnEarlierReadingShows) {
    ContextGrowth growth;
    growth.limit_context({590 * mib, 0, 1, 1});
    growth.limit_context({532 * mib, 2 * mib, 1, 2});
    growth.limit_context({560 * mib, 4 * mib, 1, 3});
    const auto growths = growth.attribute({692 * mib, 66 * mib, 1, 5});
    ASSERT_EQ(2u, growths.size());
    EXPECT_EQ(DriverMemoryKind::context, growths[0].kind);
    EXPECT_EQ(530 * mib, growths[0].bytes);
    EXPECT_EQ(DriverMemoryKind::kernels, growths[1].kind);
    EXPECT_EQ(96 * mib, growths[1].bytes);
    EXPECT_EQ(2, growths[1].first_module) << "earlier ones were loaded when the context was measured";
}

TEST(ContextGrowth, GrowthAfterTheContextWithoutModulesIsUnexplained) {
    ContextGrowth growth;
    growth.limit_context({532 * mib, 2 * mib, 1, 2});
    expect_growth(DriverMemoryKind::context, 530 * mib, growth.attribute({692 * mib, 66 * mib, 1, 2}));
    EXPECT_TRUE(growth.attribute({692 * mib, 66 * mib, 1, 2}).empty());
}

class GpuUseTest : public testing::Test {
protected:
    void SetUp() override {
        path_ = (std::filesystem::temp_directory_path() / ("tidemark_use_" + std::to_string(::getpid()) + ".tide"))
                    .string();
        auto writer = StreamingWriter::create(path_, IfExists::replace, Trace());
        ASSERT_TRUE(writer) << writer.error().sentence.english();
        writer_.emplace(*std::move(writer));
        writer_->device(0, "GPU", 0, "");
    }
    void TearDown() override { std::filesystem::remove(path_); }

    NvmlReading reading(std::initializer_list<Nvml::ProcessUse> processes) const {
        Nvml::Use use;
        use.used_bytes = 1000 * mib;
        use.total_bytes = 80'000 * mib;
        use.processes = processes;
        return {ticks(), 0, use};
    }
    std::shared_ptr<const Trace> finished() {
        EXPECT_TRUE(writer_->finish(0, true));
        Progress progress;
        auto trace = open_trace(path_, progress);
        EXPECT_TRUE(trace) << trace.error().sentence.english();
        return trace ? *trace : nullptr;
    }

    std::string path_;
    TickClock clock_;
    std::optional<StreamingWriter> writer_;
};

TEST_F(GpuUseTest, WritesASampleOfTheDeviceAndOfEachProcess) {
    Origins origins(*writer_);
    Definitions definitions(*writer_, origins);
    DriverLog driver(*writer_, definitions, clock_);
    GpuUsage use(*writer_, driver, clock_, 42);
    use.on_reading(reading({{42, 700 * mib}, {7, std::nullopt}, {8, 100 * mib}}), 200 * mib);
    use.attribute_quiet_readings(clock_.now() + 1'000'000'000);
    const auto trace = finished();
    ASSERT_EQ(3u, trace->samples.size());
    EXPECT_FALSE(trace->samples[0].pid);
    EXPECT_EQ(1000 * mib, trace->samples[0].used_bytes);
    EXPECT_EQ(42, trace->samples[1].pid);
    EXPECT_EQ(8, trace->samples[2].pid);
    EXPECT_FALSE(trace->nvml_pid);
    ASSERT_EQ(1u, trace->driver_allocations.size());
    EXPECT_EQ(DriverMemoryKind::context, trace->driver_allocations[0].kind);
    EXPECT_EQ(static_cast<uint64_t>(500 * mib), trace->driver_allocations[0].bytes);
}

TEST_F(GpuUseTest, IdentifiesTheProgramInAContainerAsTheNewProcess) {
    Origins origins(*writer_);
    Definitions definitions(*writer_, origins);
    DriverLog driver(*writer_, definitions, clock_);
    GpuUsage use(*writer_, driver, clock_, 42);
    use.on_reading(reading({{7, mib}, {8, mib}}), 0);
    use.on_reading(reading({{7, mib}, {8, mib}, {31337, 700 * mib}}), 0);
    EXPECT_EQ(31337, finished()->nvml_pid);
}

TEST_F(GpuUseTest, AddsASampleAtOutOfMemory) {
    Origins origins(*writer_);
    Definitions definitions(*writer_, origins);
    DriverLog driver(*writer_, definitions, clock_);
    GpuUsage use(*writer_, driver, clock_, 42);
    use.on_reading(reading({}), 0);
    use.on_out_of_memory(0, true);
    use.on_out_of_memory(0, false);
    use.on_reading(reading({}), 0);
    const auto trace = finished();
    ASSERT_EQ(3u, trace->samples.size());
    EXPECT_EQ(SampleSource::nvml, trace->samples[0].source);
    EXPECT_EQ(SampleSource::nvml_at_oom, trace->samples[1].source);
    EXPECT_EQ(SampleSource::nvml_at_oom, trace->samples[2].source);
}

}  // namespace
}  // namespace tidemark::recorder
