// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory of FSDP, DistributedDataParallel and DTensors, and requests that the driver refused at first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::joined;
using test::MiB;
using test::Program;
using test::RunBuilder;
using testing::HasSubstr;

const std::string torch = "/home/anna/env/lib/python3.12/site-packages/torch/";
const std::string fsdp = torch + "distributed/fsdp/_fully_shard/";
const std::string train = "/home/anna/project/train.py";

/// A model of four layers of 64 MiB, and embeddings of 32 MiB that its root gathers.
struct Sharded : Program {
    Sharded() {
        wrapped = test::stack_of(run.trace.stacks, {{fsdp + "_fsdp_param.py", "FSDPParam._init_sharded_param"},
                                                    {fsdp + "_fully_shard.py", "fully_shard"},
                                                    {train, "wrap"}});
        gathers = test::stack_of(run.trace.stacks, {{fsdp + "_fsdp_param.py", "alloc_storage"},
                                                    {fsdp + "_fsdp_param.py", "FSDPParam.alloc_all_gather_outputs"},
                                                    {fsdp + "_fsdp_collectives.py", "foreach_all_gather_copy_out"},
                                                    {train, "forward"}});
        reduces = test::stack_of(run.trace.stacks, {{fsdp + "_fsdp_collectives.py", "DefaultAllocMixin.allocate"},
                                                    {fsdp + "_fsdp_collectives.py", "foreach_reduce"}});
        for (const char* module : {"Net", "Net.layers.0", "Net.layers.1", "Net.layers.2", "Net.layers.3"}) {
            modules.push_back(run.origin(""));
            run.trace.origins.back().module = module;
        }
        graph.label(memory(run.alloc(144 * MiB, wrapped)), run.now(), Category::parameter, "Net");
    }

    /// One step, of which the forward pass frees the parameters of a layer if `reshards`.
    void step(bool reshards) {
        std::vector<AllocationIndex> gathered{run.alloc(32 * MiB, gathers, modules[0])};
        const AllocationIndex loss = run.alloc(512, run.line("loss"));
        for (size_t layer = 1; layer < modules.size(); ++layer) {
            gathered.push_back(run.alloc(64 * MiB, gathers, modules[layer]));
            if (reshards) {
                run.free(gathered.back());
                gathered.pop_back();
            }
        }
        const NodeIndex root = node("SumBackward0", {}, {gathered.back()}, loss, "loss");
        runs(root);
        input = run.alloc(64 * MiB, reduces, backward);
        gradient = run.alloc(32 * MiB, reduces, backward);
        run.free(input);
        for (const AllocationIndex a : gathered) {
            run.free(a);
        }
        run.free(loss);
        is_destroyed(root);
        last_gathered = gathered.back();
        begin_update();
        run.free(gradient);
        run.step();
    }
    void begin_update() {
        run.free(run.alloc(512, run.line("update")));
        run.trace.annotations.push_back(
            {"Optimizer.step#AdamW.step", AnnotationKind::user, 0, run.now(), run.now(), true});
    }

    StackId wrapped = 0, gathers = 0, reduces = 0;
    std::vector<uint32_t> modules;
    AllocationIndex input = 0, gradient = 0, last_gathered = 0;
};

TEST(DistributedCategories, TellWhatFsdpAllocates) {
    Sharded program;
    program.step(false);
    const auto context = program.make_context();
    const Categories& categories = context->graph()->categories;
    EXPECT_EQ(categories.first(Program::memory(program.last_gathered)), Category::unsharded) << "although it is saved";
    EXPECT_TRUE(categories.later(Program::memory(program.last_gathered)).empty());
    EXPECT_EQ(categories.first(Program::memory(program.input)), Category::communication);
    EXPECT_EQ(categories.first(Program::memory(program.gradient)), Category::gradient);
}

TEST(DistributedCategories, TellBucketsOfDistributedDataParallel) {
    Program program;
    const std::string wrapper = torch + "nn/parallel/distributed.py";
    const auto made_by = [&](std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
        return Program::memory(program.run.alloc(512, test::stack_of(program.run.trace.stacks, frames)));
    };
    const AllocationRef bucket =
        made_by({{wrapper, "DistributedDataParallel._pre_forward"}, {wrapper, "DistributedDataParallel.forward"}});
    const AllocationRef input = made_by({{torch + "distributed/utils.py", "_recursive_to.<locals>.to_map"},
                                         {torch + "distributed/utils.py", "_recursive_to"},
                                         {wrapper, "DistributedDataParallel._pre_forward"}});
    const AllocationRef activation = made_by({{train, "forward"}, {wrapper, "DistributedDataParallel.forward"}});
    const AllocationRef gathered = made_by({{torch + "distributed/distributed_c10d.py", "all_gather_object"}});
    program.graph.label(bucket, program.run.now(), Category::output);
    const auto context = program.make_context();
    const auto category = [&](AllocationRef memory) { return context->graph()->categories.first(memory); };
    EXPECT_EQ(category(bucket), Category::communication);
    EXPECT_EQ(category(input), Category::unknown);
    EXPECT_EQ(category(activation), Category::unknown);
    EXPECT_EQ(category(gathered), Category::communication);
}

TEST(DistributedCategories, TellGradientsOfDTensors) {
    Sharded program;
    RunBuilder& run = program.run;
    const StackId sharded = test::stack_of(
        run.trace.stacks, {{torch + "distributed/tensor/_api.py", "distribute_tensor"}, {train, "parallelize"}});
    const AllocationIndex weight = run.alloc(8 * MiB, sharded);
    program.graph.label(Program::memory(weight), run.now(), Category::parameter, "weight");
    const AllocationIndex gradient = run.alloc(8 * MiB, run.line("forward"), program.backward);
    program.graph.label(Program::memory(gradient), run.now(), Category::workspace);
    const AllocationIndex other = run.alloc(8 * MiB, run.line("forward"), program.backward);
    const AllocationIndex smaller = run.alloc(4 * MiB, run.line("forward"), program.backward);
    run.free(other);
    program.begin_update();
    const auto context = program.make_context();
    const auto category = [&](AllocationIndex a) { return context->graph()->categories.first(Program::memory(a)); };
    EXPECT_EQ(category(weight), Category::parameter);
    EXPECT_EQ(category(gradient), Category::gradient);
    EXPECT_EQ(category(other), Category::temporary) << "freed before the optimizer's step";
    EXPECT_EQ(category(smaller), Category::temporary) << "no parameter is as large";
}

TEST(ExplainUnshardedParameters, StayFromTheForwardPassToTheBackwardPass) {
    Sharded program;
    for (int i = 0; i < 4; ++i) {
        program.step(false);
    }
    const Findings findings = program.diagnose(diagnoses::unsharded_parameters);
    ASSERT_EQ(findings.size(), 1u);
    const Finding& finding = findings[0];
    EXPECT_EQ(finding.kind, FindingKind::unsharded_parameters);
    EXPECT_EQ(finding.severity, Severity::waste);
    EXPECT_EQ(finding.bytes, 256 * MiB) << "without those of the root";
    EXPECT_EQ(finding.memory.bytes, 256 * MiB);
    EXPECT_THAT(finding.line, HasSubstr("train.py:30 wrap"));
    EXPECT_THAT(joined(finding.text), HasSubstr("those of 4 layers exist at once: 256 MiB"));
    ASSERT_EQ(finding.fixes.size(), 1u);
    EXPECT_EQ(finding.fixes[0].bytes, 128 * MiB) << "two layers are needed at once";
    EXPECT_THAT(finding.fixes[0].code, HasSubstr("reshard_after_forward=True"));
}

TEST(ExplainUnshardedParameters, AreNoWasteIfOnlyTheRootKeepsItsOwn) {
    Sharded program;
    for (int i = 0; i < 4; ++i) {
        program.step(true);
    }
    EXPECT_TRUE(program.diagnose(diagnoses::unsharded_parameters).empty());
}

/// Each of `count` times, 64 MiB in pieces are free, but 48 MiB in one piece are requested.
RunBuilder retrying(int count, bool by_program) {
    RunBuilder run;
    const StackId line = run.line("train");
    const StackId empty_cache =
        test::stack_of(run.trace.stacks, {{torch + "cuda/memory.py", "empty_cache"}, {train, "train"}});
    for (int i = 0; i < count; ++i) {
        std::vector<uint32_t> segments{run.segment(32 * MiB), run.segment(32 * MiB)};
        for (const uint32_t segment : segments) {
            run.free(run.alloc(32 * MiB, line, 0, segment));
        }
        for (const uint32_t segment : segments) {
            run.return_segment(segment, by_program ? empty_cache : line);
        }
        const uint32_t large = run.segment(48 * MiB);
        run.device().segments[large].stack = line;
        run.free(run.alloc(48 * MiB, line, 0, large));
        run.return_segment(large, empty_cache);
        run.step();
    }
    return run;
}

TEST(ExplainRetries, SayWhyTheDriverWasAskedTwice) {
    const Findings findings = test::diagnose(diagnoses::allocation_retries, *retrying(1, false).make_context());
    ASSERT_EQ(findings.size(), 1u);
    const Finding& finding = findings[0];
    EXPECT_EQ(finding.kind, FindingKind::allocation_retries);
    EXPECT_EQ(finding.severity, Severity::pattern) << "once";
    EXPECT_EQ(finding.bytes, 64 * MiB);
    EXPECT_EQ(finding.count, 1);
    EXPECT_THAT(joined(finding.text), HasSubstr("48.0 MiB were requested, but the driver refused"));
    EXPECT_THAT(joined(finding.text), HasSubstr("64.0 MiB were free, but in pieces of at most 32.0 MiB"));
}

TEST(ExplainRetries, AreWasteIfTheyRepeat) {
    const Findings findings = test::diagnose(diagnoses::allocation_retries, *retrying(5, false).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].count, 5);
    EXPECT_TRUE(test::diagnose(diagnoses::allocation_retries, *retrying(5, true).make_context()).empty())
        << "the program called empty_cache()";
}

}  // namespace
}  // namespace tidemark
