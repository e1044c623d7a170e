// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/call_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

constexpr const char* torch_file = "/home/anna/venv/lib/python3.12/site-packages/torch/nn/linear.py";
constexpr const char* train_file = "/home/anna/project/train.py";

class CallTreeOf : public testing::Test {
protected:
    CallTreeOf() { trace.devices.emplace_back(); }

    /// Adds an allocation; frames are innermost first.
    AllocationIndex allocate(uint64_t bytes,
                             std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
        return allocate(bytes, frames.size() == 0 ? 0 : test::stack_of(trace.stacks, frames));
    }
    AllocationIndex allocate(uint64_t bytes, StackId stack) {
        DeviceHistory& device = trace.devices.front();
        all.push_back(test::add_allocation(device, static_cast<EventNumber>(all.size()), never, never,
                                           all.size() * 0x100000, bytes, bytes, stack));
        return all.back();
    }

    CallTree tree(const CallTreeOptions& options = {}) const {
        return CallTree(trace, trace.devices.front(), all, options);
    }

    /// Returns one line per node: depth, function, total bytes, self bytes, count.
    std::vector<std::string> lines(const CallTreeOptions& options = {}) const {
        const CallTree made = tree(options);
        std::vector<std::string> list;
        for (const CallNode& node : made.nodes()) {
            const std::string name = node.kind == CallNodeKind::root        ? "all"
                                     : node.kind == CallNodeKind::no_stack  ? "no stack"
                                     : node.kind == CallNodeKind::no_frames ? "no frames"
                                     : node.kind == CallNodeKind::no_module ? "no module"
                                     : node.kind == CallNodeKind::module
                                         ? made.module(node.module)
                                         : trace.stacks.string(trace.stacks.frame(node.frame).function);
            list.push_back(
                fmt::format("{}{} {} {} {}", std::string(node.depth, '.'), name, node.total, node.self, node.count()));
        }
        return list;
    }

    Trace trace;
    std::vector<AllocationIndex> all;
};

using TreeLines = std::vector<std::string>;

TEST_F(CallTreeOf, NothingIsOnlyARoot) {
    EXPECT_TRUE(CallTree().is_empty());
    EXPECT_TRUE(tree().is_empty());
    EXPECT_EQ(lines(), (TreeLines{"all 0 0 0"}));
}

TEST_F(CallTreeOf, SumsStacksThatShareCallersLargestFirst) {
    allocate(100, {{train_file, "loss"}, {train_file, "main"}});
    allocate(300, {{train_file, "step"}, {train_file, "main"}});
    allocate(50, {{train_file, "step"}, {train_file, "main"}});
    EXPECT_EQ(lines(), (TreeLines{"all 450 0 3", ".main 450 0 3", "..step 350 350 2", "..loss 100 100 1"}));
}

TEST_F(CallTreeOf, AFrameThatAllocatesAndCallsHasSelfAndTotal) {
    const StackId outer = test::stack_of(trace.stacks, {{train_file, "main"}});
    const FrameId inner = trace.stacks.intern(Frame{trace.stacks.intern("step"), trace.stacks.intern(train_file), 7});
    allocate(10, outer);
    allocate(30, trace.stacks.intern(StackEntry{outer, inner}));
    const CallTree made = tree();
    EXPECT_EQ(lines(), (TreeLines{"all 40 0 2", ".main 40 10 2", "..step 30 30 1"}));
    EXPECT_EQ(made.node(1).self_count, 1u);
}

TEST_F(CallTreeOf, BottomUpBeginsWithTheAllocatingFrame) {
    allocate(100, {{train_file, "empty"}, {train_file, "forward"}});
    allocate(300, {{train_file, "empty"}, {train_file, "backward"}});
    EXPECT_EQ(lines({TreePath::bottom_up}),
              (TreeLines{"all 400 0 2", ".empty 400 0 2", "..backward 300 300 1", "..forward 100 100 1"}));
}

TEST_F(CallTreeOf, KeepsRecursion) {
    const FrameId walk = trace.stacks.intern(Frame{trace.stacks.intern("walk"), trace.stacks.intern(train_file), 5});
    allocate(8, trace.stacks.intern_stack(std::vector<FrameId>{walk, walk, walk}));
    EXPECT_EQ(lines(), (TreeLines{"all 8 0 1", ".walk 8 0 1", "..walk 8 0 1", "...walk 8 8 1"}));
}

TEST_F(CallTreeOf, OwnCodeOnlyLeavesOutLibraries) {
    allocate(100, {{torch_file, "forward"}, {train_file, "step"}, {torch_file, "__call__"}, {train_file, "main"}});
    allocate(20, {{torch_file, "worker"}});
    EXPECT_EQ(lines({TreePath::top_down, true}),
              (TreeLines{"all 120 0 2", ".main 100 0 1", "..step 100 100 1", ".no frames 20 20 1"}));
    EXPECT_EQ(lines().size(), 6u);
}

TEST_F(CallTreeOf, FollowsTheNamesOfModules) {
    trace.origins = {Origin{}};
    const auto in_module = [&](uint64_t bytes, const char* module) {
        Origin origin;
        origin.module = module;
        trace.origins.push_back(origin);
        trace.devices.front().allocations.origin[allocate(bytes, 0)] = static_cast<uint32_t>(trace.origins.size() - 1);
    };
    in_module(10, "GPT.h.0.attn");
    in_module(20, "GPT.h.1.attn");
    in_module(4, "GPT.h.0");
    in_module(5, "GPT.h.0.attn");  // another op
    allocate(1, 0);
    EXPECT_EQ(lines({TreePath::modules}),
              (TreeLines{"all 40 0 5", ".GPT 39 0 4", "..h 39 0 4", "...1 20 0 1", "....attn 20 20 1", "...0 19 4 3",
                         "....attn 15 15 2", ".no module 1 1 1"}));
}

TEST_F(CallTreeOf, MemoryWithoutAStackIsANodeOfItsOwn) {
    allocate(64, 0);
    allocate(16, {{train_file, "main"}});
    for (const TreePath path : {TreePath::top_down, TreePath::bottom_up}) {
        for (const bool own : {false, true}) {
            EXPECT_EQ(lines({path, own}), (TreeLines{"all 80 0 2", ".no stack 64 64 1", ".main 16 16 1"}));
        }
    }
}

TEST_F(CallTreeOf, LeavesOutPlumbingAndJoinsEntriesOfOneNativeFunction) {
    StackTable& stacks = trace.stacks;
    const auto native = [&](const char* function) { return stacks.intern(Frame{stacks.intern(function), 0, 0}); };
    const FrameId plumbing = native("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc");
    ASSERT_EQ(stacks.role(plumbing), FrameRole::plumbing);
    const FrameId one = native("at::_ops::mm::call(at::Tensor const&)");
    const FrameId other = native("at::_ops::mm::redispatch(at::Tensor const&)");
    ASSERT_EQ(stacks.role(one), FrameRole::op);
    allocate(1, stacks.intern_stack(std::vector<FrameId>{plumbing, one}));
    allocate(2, stacks.intern_stack(std::vector<FrameId>{plumbing, other}));
    allocate(4, stacks.intern_stack(std::vector<FrameId>{plumbing}));
    const CallTree made = tree();
    ASSERT_EQ(made.nodes().size(), 3u);
    EXPECT_EQ(made.node(1).kind, CallNodeKind::no_frames);
    EXPECT_EQ(made.node(2).total, 3u);
    EXPECT_EQ(native_name(stacks.string(stacks.frame(made.node(2).frame).function)), "at::_ops::mm");
}

TEST_F(CallTreeOf, AllocationsOfANodeAreThoseOfItsDescendants) {
    const AllocationIndex a = allocate(10, {{train_file, "step"}, {train_file, "main"}});
    const AllocationIndex b = allocate(50, {{train_file, "loss"}, {train_file, "main"}});
    const AllocationIndex c = allocate(5, {{train_file, "step"}, {train_file, "main"}});
    const AllocationIndex d = allocate(1, 0);
    const CallTree made = tree();
    const auto of = [&](uint32_t n) {
        std::vector<AllocationIndex> list(made.allocations(n).begin(), made.allocations(n).end());
        std::sort(list.begin(), list.end());
        return list;
    };
    EXPECT_EQ(of(CallTree::root), (std::vector<AllocationIndex>{a, b, c, d}));
    EXPECT_EQ(of(1), (std::vector<AllocationIndex>{a, b, c}));
    std::vector<uint32_t> children;
    made.for_each_child(1, [&](uint32_t child) { children.push_back(child); });
    ASSERT_EQ(children.size(), 2u);
    EXPECT_EQ(of(children[0]), (std::vector<AllocationIndex>{b}));
    EXPECT_EQ(of(children[1]), (std::vector<AllocationIndex>{a, c}));
}

TEST_F(CallTreeOf, EveryNodeIsTheSumOfItsChildrenAndItself) {
    // 100 functions of 5 levels: the size of a real program's tree. Deep stacks do not recurse.
    StackTable& stacks = trace.stacks;
    const StringId file = stacks.intern(train_file);
    for (uint32_t i = 0; i < 500; ++i) {
        std::vector<FrameId> frames;
        for (uint32_t level = 0; level < 5; ++level) {
            const uint32_t number = (i / (level + 1)) % 100;
            frames.push_back(stacks.intern(Frame{stacks.intern(fmt::format("f{}", number)), file, 1}));
        }
        allocate(i + 1, stacks.intern_stack(frames));
    }
    for (const TreePath path : {TreePath::top_down, TreePath::bottom_up}) {
        const CallTree made = tree({path});
        EXPECT_EQ(made.node(CallTree::root).total, 500u * 501 / 2);
        for (uint32_t n = 0; n < made.nodes().size(); ++n) {
            uint64_t total = made.node(n).self;
            uint32_t count = made.node(n).self_count;
            uint64_t before = UINT64_MAX;
            made.for_each_child(n, [&](uint32_t child) {
                EXPECT_EQ(made.node(child).parent, n);
                EXPECT_EQ(made.node(child).depth, made.node(n).depth + 1);
                EXPECT_LE(made.node(child).total, before);
                before = made.node(child).total;
                total += made.node(child).total;
                count += made.node(child).count();
            });
            EXPECT_EQ(total, made.node(n).total);
            EXPECT_EQ(count, made.node(n).count());
        }
    }
}

}  // namespace
}  // namespace tidemark
