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

using testing::HasSubstr;

/// A forward pass of 8 layers with 5 lines each, which keeps 4 MiB for each of the first lines.
struct Forward {
    explicit Forward(int kept_lines, const std::string& outermost = own) {
        run.segment(1 << 30);
        for (int layer = 0; layer < 8; ++layer) {
            for (int line = 0; line < 5; ++line) {
                const AllocationIndex a = run.alloc(4 * MiB, in_layer(std::to_string(line), outermost));
                if (line >= kept_lines) {
                    run.free(a);
                }
            }
        }
    }
    StackId in_layer(const std::string& line, const std::string& outermost) {
        return stack_of(run.trace.stacks, {{own, "line" + line},
                                           {packages + "torch/nn/modules/module.py", "Module._call_impl"},
                                           {outermost, "decorate_context"}});
    }
    int64_t kept() { return kept_activations(*run.make_context()); }

    RunBuilder run;
};

TEST(KeptActivations, AreMostOfWhatAForwardPassAllocates) {
    Forward forward(4);
    EXPECT_EQ(forward.kept(), 8 * 4 * 4 * MiB);
    EXPECT_THAT(joined(explained(*forward.run.make_context()).summary),
                HasSubstr("The last forward pass keeps 128 MiB that its modules allocated"));
}

TEST(KeptActivations, AreNotTheCacheOfFewLinesOrTheOutput) {
    EXPECT_EQ(Forward(0).kept(), 0);
    EXPECT_EQ(Forward(2).kept(), 0);
    EXPECT_EQ(Forward(4, packages + "torch/utils/_contextlib.py").kept(), 0) << "a function under torch.no_grad()";
}

TEST(KeptActivations, EndWhenABackwardPassMayHaveBegun) {
    Forward with_node(4), without_stack(4);
    with_node.run.alloc(
        MiB, stack_of(with_node.run.trace.stacks, {{"", "torch::autograd::generated::MmBackward0::apply(x)"}}));
    without_stack.run.alloc(MiB);
    EXPECT_EQ(with_node.kept(), 0);
    EXPECT_EQ(without_stack.kept(), 0);
}

}  // namespace
}  // namespace tidemark::test
