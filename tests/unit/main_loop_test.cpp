// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The main loop: which repetition of a program is its iteration.
#include "storage/explain/main_loop.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/unit/run_builder.h"

namespace tidemark::test {
namespace {

struct Call {
    const char* file;
    const char* function;
    int32_t line;
};
constexpr Call module_call{"/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", "_call_impl", 1790};
constexpr Call optimizer_step{"/venv/lib/python3.12/site-packages/torch/optim/adam.py", "step", 248};

class Program : public RunBuilder {
public:
    Program() { segment(uint64_t{1} << 40); }

    /// Outermost call first.
    AllocationIndex at(std::initializer_list<Call> calls, uint64_t bytes = 1 << 20) {
        std::vector<FrameId> frames;
        for (const Call& call : calls) {
            const Frame frame{trace.stacks.intern(call.function), trace.stacks.intern(call.file), call.line};
            frames.insert(frames.begin(), trace.stacks.intern(frame));
        }
        return alloc(bytes, trace.stacks.intern_stack(frames));
    }
    /// Allocates and frees at once.
    void use(std::initializer_list<Call> calls, uint64_t bytes = 1 << 20) { free(at(calls, bytes)); }

    std::optional<Loop> loop() {
        const Curves curves(device());
        return find_main_loop(trace, device(), curves, 0, device().event_count());
    }
    size_t iterations() {
        const auto found = loop();
        return found ? found->iterations.size() : 0;
    }
};

Call in_main(int32_t line) { return {"/home/anna/train.py", "main", line}; }

TEST(MainLoop, IsTheOneThatReturnsToAnEarlierLine) {
    Program program;
    program.at({in_main(5)});
    for (int step = 0; step < 7; ++step) {
        program.use({in_main(10)});
        program.use({in_main(12), module_call});
        program.use({in_main(14)});
    }
    program.use({in_main(20)});
    const auto loop = program.loop();
    ASSERT_TRUE(loop);
    EXPECT_EQ(7u, loop->iterations.size());
    EXPECT_EQ(10, program.trace.stacks.frame(loop->first).line);
    EXPECT_EQ(14, program.trace.stacks.frame(loop->last).line);
}

TEST(MainLoop, MayEndWithLinesThatRunInSomeIterationsOnly) {
    Program program;
    for (int step = 0; step < 36; ++step) {
        program.use({in_main(10)}, 4 << 20);
        program.at({in_main(12), module_call}, 2 << 20);
        program.use({in_main(14)});
        if (step % 6 == 0) {
            program.use({in_main(17)});
        }
    }
    const auto loop = program.loop();
    ASSERT_TRUE(loop);
    EXPECT_NEAR(36, static_cast<double>(loop->iterations.size()), 1);
}

TEST(MainLoop, IsNotTheLayersOfOneForwardPass) {
    Program program;
    program.at({in_main(5)});
    for (int layer = 0; layer < 24; ++layer) {
        for (const int32_t line : {20, 21, 25}) {
            program.at({in_main(10), module_call, {"/home/anna/model.py", "Block.run", line}});
        }
    }
    EXPECT_EQ(0u, program.iterations());
}

TEST(MainLoop, IsNotTheStatesOfAnOptimizer) {
    Program program;
    for (int parameter = 0; parameter < 100; ++parameter) {
        for (const int32_t line : {150, 155}) {
            program.at({in_main(10), optimizer_step, {"/venv/adam.py", "_init_group", line}});
        }
    }
    EXPECT_EQ(0u, program.iterations());
}

TEST(MainLoop, IsNotTheConstructionOfAModel) {
    Program program;
    for (int layer = 0; layer < 24; ++layer) {
        for (const int32_t line : {30, 31}) {
            program.at({in_main(4), {"/home/anna/model.py", "Model.__init__", line}});
        }
    }
    EXPECT_EQ(0u, program.iterations());
}

TEST(MainLoop, MayRunInsideACallOfTheWholeProgram) {
    constexpr Call pytest{"/venv/lib/python3.12/site-packages/pluggy/_hooks.py", "HookCaller.__call__", 512};
    for (const bool has_loop_of_one_line : {true, false}) {
        Program program;
        program.at({pytest, in_main(5)});
        for (int step = 0; step < 8; ++step) {
            program.at({pytest, in_main(10)});
            program.use({pytest, in_main(has_loop_of_one_line ? 10 : 12), module_call});
        }
        EXPECT_NEAR(8, static_cast<double>(program.iterations()), 1) << has_loop_of_one_line;
    }
}

TEST(MainLoop, MayRunInAClassOfTheProgram) {
    for (const char* function : {"Evaluator.__call__", "Experiment.__init__"}) {
        Program program;
        const auto at_line = [&](int32_t line) { return Call{"/home/anna/run.py", function, line}; };
        for (int step = 0; step < 8; ++step) {
            program.at({in_main(30), at_line(20)}, 1 << 20);
            program.use({in_main(30), at_line(21), module_call}, 4 << 20);
        }
        EXPECT_NEAR(8, static_cast<double>(program.iterations()), 1) << function;
    }
}

TEST(MainLoop, IsNotTheLayersOfACallableModel) {
    constexpr Call model{"/home/anna/model.py", "Model.__call__", 12};
    Program program;
    program.at({in_main(5)});
    for (int layer = 0; layer < 24; ++layer) {
        for (const int32_t line : {20, 21, 25}) {
            program.at({in_main(10), model, {"/home/anna/model.py", "Block.run", line}});
        }
    }
    EXPECT_EQ(0u, program.iterations());
}

TEST(MainLoop, IsNotAListMadeOnce) {
    Program program;
    for (int tensor = 0; tensor < 4; ++tensor) {
        program.at({in_main(4)});
    }
    EXPECT_EQ(0u, program.iterations());
}

TEST(MainLoop, HasIterationsThatUseTheMemory) {
    Program program;
    for (int step = 0; step < 10; ++step) {
        for (int image = 0; image < 8; ++image) {
            program.use({in_main(10), {"/home/anna/data.py", "load", 3}}, 1 << 12);
            program.use({in_main(10), {"/home/anna/data.py", "load", 5}}, 1 << 12);
        }
        program.use({in_main(12), module_call}, 1 << 26);
    }
    EXPECT_EQ(10u, program.iterations());
}

TEST(MainLoop, BeginsAnIterationWhenItIsEnteredAnew) {
    Program program;
    const Call train{"/home/anna/train.py", "train_epoch", 30}, back{"/home/anna/train.py", "train_epoch", 34};
    for (int epoch = 0; epoch < 2; ++epoch) {
        for (int step = 0; step < 6; ++step) {
            program.use({in_main(10), train});
            program.use({in_main(10), back});
        }
        program.use({in_main(11)}, 1 << 10);
    }
    EXPECT_EQ(12u, program.iterations());
}

TEST(MainLoop, MayBeOneLine) {
    Program program;
    for (int step = 0; step < 8; ++step) {
        const AllocationIndex input = program.at({in_main(10)});
        program.use({in_main(10), module_call});
        program.free(input);
    }
    EXPECT_EQ(8u, program.iterations());
}

TEST(MainLoop, MayBeOneLineThatAllocatesSeveralSizes) {
    Program program;
    for (int step = 0; step < 12; ++step) {
        program.use({in_main(10)}, 1 << 20);
        program.use({in_main(10)}, 4 << 20);
        for (int layer = 0; layer < 3; ++layer) {
            program.use({in_main(10), module_call});
        }
    }
    EXPECT_EQ(12u, program.iterations());
}

/// One forward pass: its layers free what they allocate, or keep it for backward.
void forward(Program& program, bool keeps, std::vector<AllocationIndex>& kept) {
    const Call layers{"/home/anna/model.py", "forward", 31}, head{"/home/anna/model.py", "forward", 33};
    for (int layer = 0; layer < 12; ++layer) {
        for (const int32_t line : {20, 21, 25}) {
            const AllocationIndex a =
                program.at({in_main(10), module_call, layers, module_call, {"/home/anna/model.py", "forward", line}});
            if (keeps) {
                kept.push_back(a);
            } else {
                program.free(a);
            }
        }
    }
    kept.push_back(program.at({in_main(10), module_call, head}));
}

TEST(MainLoop, MayBeOneLineThatCallsAModelIfAllIterationsAreEqual) {
    for (const bool keeps : {false, true}) {
        Program program;
        for (int pass = 0; pass < 6; ++pass) {
            std::vector<AllocationIndex> kept;
            if (pass == 0) {
                program.at({in_main(10), module_call}, 8 << 20);  // a workspace
            }
            forward(program, keeps, kept);
            for (const AllocationIndex a : kept) {
                program.free(a);
            }
        }
        EXPECT_EQ(6u, program.iterations()) << keeps;
    }
}

TEST(MainLoop, IsNotTheEqualLayersOfAModel) {
    for (const bool keeps : {false, true}) {
        Program program;
        std::vector<AllocationIndex> kept;
        for (int pass = 0; pass < 2; ++pass) {
            forward(program, keeps, kept);
        }
        EXPECT_EQ(0u, program.iterations()) << keeps;
    }
}

TEST(MainLoop, HasNoEqualIterationsThatLeaveMemory) {
    Program program;
    std::vector<AllocationIndex> kept;
    for (int pass = 0; pass < 6; ++pass) {
        forward(program, true, kept);
    }
    EXPECT_EQ(0u, program.iterations()) << "they cannot be told from layers outside of a model";
}

TEST(MainLoop, NeedsPythonStacks) {
    Program program;
    for (int step = 0; step < 50; ++step) {
        program.free(program.alloc(1 << 20));
    }
    EXPECT_EQ(0u, program.iterations());
}

}  // namespace
}  // namespace tidemark::test
