// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Activations of a forward pass without a backward pass, in traces without a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/explain/kept_activations.h"
#include "tests/unit/explained.h"
#include "tests/unit/failing_program.h"

namespace tidemark::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A forward pass of 8 layers with 5 lines each, which keeps 4 MiB for each of the first lines.
struct Forward {
    explicit Forward(int kept_lines, const std::string& outermost = own) : in_function(outermost) {
        run.trace.processes.clear();  // as of a snapshot, which is explained at its end
        run.segment(1 << 30);
        run_layers(kept_lines);
    }
    void run_layers(int kept_lines) {
        for (int layer = 0; layer < 8; ++layer) {
            for (int line = 0; line < 5; ++line) {
                const AllocationIndex a = run.alloc(4 * MiB, in_layer(std::to_string(line)));
                if (line < kept_lines) {
                    kept_memory.push_back(a);
                } else {
                    run.free(a);
                }
            }
        }
    }
    void drop() {
        for (const AllocationIndex a : kept_memory) {
            run.free(a);
        }
    }
    StackId in_layer(const std::string& line) {
        return stack_of(run.trace.stacks, {{own, "line" + line},
                                           {packages + "torch/nn/modules/module.py", "Module._call_impl"},
                                           {in_function, "decorate_context"}});
    }
    StackId node() { return stack_of(run.trace.stacks, {{"", "torch::autograd::generated::MmBackward0::apply(x)"}}); }
    KeptActivations kept() { return find_kept_activations(*run.make_context()); }
    std::string summary() { return joined(explained(*run.make_context()).summary); }

    RunBuilder run;
    std::string in_function;
    std::vector<AllocationIndex> kept_memory;
};

constexpr int64_t all_kept = 8 * 4 * 4 * MiB;

TEST(KeptActivations, AreMostOfWhatAForwardPassAllocates) {
    Forward forward(4);
    EXPECT_EQ(forward.kept().waiting, all_kept);
    EXPECT_THAT(forward.summary(),
                HasSubstr("128 MiB of activations are alive that a forward pass saved for a backward pass, which the "
                          "trace does not contain. If no backward pass follows, run the forward pass under"));
}

TEST(KeptActivations, AreNotTheCacheOfFewLinesOrTheOutput) {
    EXPECT_EQ(Forward(0).kept().waiting, 0);
    EXPECT_EQ(Forward(2).kept().waiting, 0);
    EXPECT_EQ(Forward(4, packages + "torch/utils/_contextlib.py").kept().waiting, 0)
        << "a function under torch.no_grad()";
}

TEST(KeptActivations, WaitNoLongerWhenABackwardPassMayHaveBegun) {
    Forward with_node(4), without_stack(4);
    with_node.run.alloc(MiB, with_node.node());
    without_stack.run.alloc(MiB);
    EXPECT_EQ(with_node.kept().waiting, 0);
    EXPECT_EQ(without_stack.kept().waiting, 0);
}

TEST(KeptActivations, GetNoAdviceAgainstTheGraphIfOtherForwardPassesHaveABackwardPass) {
    Forward forward(0);
    forward.run.free(forward.run.alloc(MiB, forward.node()));
    forward.run_layers(4);
    EXPECT_THAT(forward.summary(),
                AllOf(HasSubstr("128 MiB of activations are alive"), Not(HasSubstr("torch.no_grad()"))));
}

TEST(KeptActivations, ThatAreDroppedWithoutABackwardPassNeedNoGraph) {
    Forward forward(4);
    forward.drop();
    EXPECT_EQ(forward.kept().dropped, all_kept);
    EXPECT_EQ(forward.kept().waiting, 0);
    EXPECT_THAT(forward.summary(), AllOf(HasSubstr("but the trace contains no backward pass. Run the forward passes "
                                                   "under torch.no_grad()"),
                                         Not(HasSubstr("No fix is needed"))));
    Forward trained(4);
    trained.run.alloc(MiB, trained.node());
    trained.drop();
    EXPECT_EQ(trained.kept().dropped, 0);
}

TEST(KeptActivations, AreNamedAtThePeakIfABackwardPassFollows) {
    Forward forward(4);
    forward.run.free(forward.run.alloc(MiB, forward.node()));
    forward.drop();
    EXPECT_EQ(forward.kept().used, all_kept);
    EXPECT_THAT(forward.summary(), HasSubstr("At the peak, 128 MiB are activations that forward passes saved for the "
                                             "backward pass."));
}

TEST(KeptActivations, OfOneLayerAtThePeakAreNoGraph) {
    Forward forward(0);
    std::vector<AllocationIndex> layer;
    for (int line = 0; line < 5; ++line) {
        layer.push_back(forward.run.alloc(64 * MiB, forward.in_layer(std::to_string(line))));
    }
    for (const AllocationIndex a : layer) {
        forward.run.free(a);
    }
    EXPECT_EQ(forward.kept().dropped, 0);
}

TEST(KeptActivations, CanOutliveTheBackwardPass) {
    Forward forward(4);
    forward.run.free(forward.run.alloc(MiB, forward.node()));
    EXPECT_EQ(forward.kept().outlived, all_kept);
    EXPECT_THAT(forward.summary(), HasSubstr("128 MiB of activations are still alive after the last backward pass"));
    forward.drop();
    EXPECT_EQ(forward.kept().outlived, 0);
}

TEST(KeptActivations, OfAForwardPassThatRanOutOfMemoryAreNotNamed) {
    Forward forward(4);
    forward.run.out_of_memory(1 << 30, 0, forward.in_layer("0"));
    EXPECT_EQ(forward.kept().waiting, 0);
}

}  // namespace
}  // namespace tidemark::test
