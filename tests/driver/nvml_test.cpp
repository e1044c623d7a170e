// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tests of the NVML wrapper with a fake library.
#include "recorder/driver/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace {

using namespace tidemark::recorder;
using testing::HasSubstr;

class NvmlTest : public testing::Test {
protected:
    void SetUp() override {
        setenv("TIDEMARK_NVML", FAKE_NVML, 1);
        unsetenv("FAKE_NVML");
    }

    static Nvml loaded() {
        auto nvml = Nvml::load();
        EXPECT_TRUE(nvml) << nvml.error().sentence.english();
        return std::move(*nvml);
    }
    static Nvml::Use use_of(const Nvml& nvml, const char* pci_bus_id, const char* uuid) {
        const auto device = nvml.device(pci_bus_id, uuid);
        EXPECT_TRUE(device) << device.error().sentence.english();
        const auto use = nvml.use(*device);
        EXPECT_TRUE(use) << use.error().sentence.english();
        return *use;
    }
};

const Nvml::ProcessUse* find(const Nvml::Use& use, int64_t pid) {
    const auto found = std::find_if(use.processes.begin(), use.processes.end(),
                                    [&](const auto& process) { return process.pid == pid; });
    return found == use.processes.end() ? nullptr : &*found;
}

TEST_F(NvmlTest, ExcludesMemoryReservedByTheDriver) {
    const Nvml nvml = loaded();
    const auto use = use_of(nvml, "0000:65:00.0", "");
    EXPECT_EQ(use.used_bytes, 400);
    EXPECT_EQ(use.total_bytes, 1000);
    EXPECT_EQ(nvml.driver_version(), "580.95.05");
}

TEST_F(NvmlTest, IncludesReservedMemoryWithOlderDrivers) {
    setenv("FAKE_NVML", "old", 1);
    EXPECT_EQ(use_of(loaded(), "0000:65:00.0", "").used_bytes, 500);
}

TEST_F(NvmlTest, ListsEachProcessOnce) {
    const auto use = use_of(loaded(), "", "GPU-1");
    EXPECT_EQ(use.processes.size(), 69u);  // 68 compute processes, one more with graphics
    EXPECT_EQ(find(use, 100)->bytes, 10);  // compute and graphics
    EXPECT_EQ(find(use, 101)->bytes, std::nullopt);
    EXPECT_EQ(find(use, 102)->bytes, 20) << "the sum of its instances";
    EXPECT_EQ(find(use, 104)->bytes, 10) << "listed twice for one instance";
    EXPECT_EQ(find(use, 900)->bytes, 5);
}

TEST_F(NvmlTest, DistinguishesMigInstancesFromWholeGpus) {
    const Nvml nvml = loaded();
    EXPECT_EQ(use_of(nvml, "0000:65:00.0", "MIG-7").total_bytes, 100);
    EXPECT_EQ(use_of(nvml, "0000:65:00.0", "GPU-7").total_bytes, 100);
    EXPECT_EQ(use_of(nvml, "0000:65:00.0", "GPU-unknown").total_bytes, 1000);
    const auto unknown = nvml.device("0000:65:00.0", "MIG-unknown");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().sentence.english(), HasSubstr("MIG-unknown"));
}

TEST_F(NvmlTest, ReportsAMissingDriver) {
    setenv("FAKE_NVML", "broken", 1);
    const auto broken = Nvml::load();
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().sentence.english(), HasSubstr("Driver Not Loaded"));

    setenv("TIDEMARK_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
    const auto missing = Nvml::load();
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().sentence.english(), HasSubstr("--gpus all"));
}

}  // namespace
