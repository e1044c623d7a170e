// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder process on light steps: the program sends no labels and no nodes for their memory, which gets the
// categories of the steps that they repeat.
#include <fmt/format.h>
#include <unistd.h>

#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

using Rows = std::vector<std::string>;

class LightStep : public Recording {
protected:
    void SetUp() override {
        Recording::SetUp();
        ASSERT_TRUE(program_.start_recorder(output_, ::getpid())) << program_.failure();
        allocator_.report_state(main_, TIDEMARK_STATE_START);
        line_ = main_.stack({{"forward", 12}});
        other_line_ = main_.stack({{"forward", 13}});
    }
    uint64_t allocate(uint64_t bytes, uint32_t stack, bool is_light) {
        EventContext context;
        context.stack = stack;
        context.is_light = is_light;
        return allocator_.allocate(main_, bytes, context);
    }
    void save(uint32_t node, uint64_t address) {
        NodeMessage message;
        message.id = node;
        message.output = allocator_.memory(address);
        message.output.address = 0;  // a view
        message.saved = {main_.saved("self", allocator_.memory(address), 1000)};
        main_.node(message);
        main_.node_destroyed(node);
    }
    void label(uint8_t category, uint64_t address, const std::string& name) {
        main_.label(category, allocator_.memory(address), name);
    }
    void end() {
        main_.end(TIDEMARK_END_STOPPED);
        ASSERT_TRUE(program_.wait_for(RecorderState::finished)) << program_.failure();
    }
    /// The categories of the allocation at an address, with their names.
    Rows categories(int64_t allocation) const {
        return rows(
            fmt::format("SELECT category || ' ' || coalesce((SELECT text FROM string WHERE id = name), '-') "
                        "FROM allocation_category WHERE allocation = {} ORDER BY id",
                        allocation));
    }

    SimulatedProgram program_{{}};
    SimulatedThread main_{program_, 1, 100};
    SimulatedAllocator allocator_{0};
    uint32_t line_ = 0, other_line_ = 0;
};

TEST_F(LightStep, ItsMemoryHasTheCategoriesOfTheStepThatItRepeats) {
    const uint64_t saved = allocate(1000, line_, false), gradient = allocate(2000, line_, false),
                   plain = allocate(3000, line_, false);
    save(1, saved);
    label(TIDEMARK_CATEGORY_GRADIENT, gradient, "weight.grad");
    for (const uint64_t address : {saved, gradient, plain}) {
        allocator_.free(main_, address);
    }
    const auto light_saved = allocator_.allocation_id(allocate(1000, line_, true)),
               light_gradient = allocator_.allocation_id(allocate(2000, line_, true)),
               light_plain = allocator_.allocation_id(allocate(3000, line_, true)),
               of_other_line = allocator_.allocation_id(allocate(1000, other_line_, true)),
               of_other_size = allocator_.allocation_id(allocate(5000, line_, true));
    end();
    EXPECT_EQ((Rows{"saved for backward -"}), categories(light_saved));
    EXPECT_EQ((Rows{"gradient weight.grad"}), categories(light_gradient));
    for (const auto none : {light_plain, of_other_line, of_other_size}) {
        EXPECT_EQ(Rows{}, categories(none));
    }
}

TEST_F(LightStep, AllocationsOfOneLineWithDifferentCategoriesGetNone) {
    for (int i = 0; i < 3; ++i) {
        const uint64_t address = allocate(1000, line_, false);
        if (i == 0) {
            label(TIDEMARK_CATEGORY_WORKSPACE, address, "");
        }
    }
    const auto light = allocator_.allocation_id(allocate(1000, line_, true));
    end();
    EXPECT_EQ(Rows{}, categories(light));
}

TEST_F(LightStep, ANameThatDiffersIsLeftOut) {
    for (const char* name : {"first.grad", "second.grad"}) {
        label(TIDEMARK_CATEGORY_GRADIENT, allocate(1000, line_, false), name);
    }
    const auto light = allocator_.allocation_id(allocate(1000, line_, true));
    end();
    EXPECT_EQ((Rows{"gradient -"}), categories(light));
}

TEST_F(LightStep, ItsEventsAreThoseOfAnyOtherStep) {
    const uint64_t address = allocate(1000, line_, true);
    EventContext context;
    context.is_light = true;
    allocator_.free(main_, address, true, context);
    end();
    EXPECT_EQ((Rows{"1000|forward|1"}),
              rows("SELECT requested, (SELECT function FROM stacks WHERE stacks.id = a.stack AND depth = 0), "
                   "free_after IS NOT NULL FROM allocation a"));
    EXPECT_EQ(Rows{}, rows("SELECT kind FROM data_gap"));
}

}  // namespace
}  // namespace tidemark::test
