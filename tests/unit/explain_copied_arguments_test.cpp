// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Arguments that save_hyperparameters() copied.
#include <gtest/gtest.h>

#include "storage/explain/copied_arguments.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;

/// A model with an encoder of 64 MiB that is copied at __init__ of train.py, called by a function of this file.
struct Copied : Program {
    explicit Copied(std::string_view caller, int64_t bytes = 64 * MiB) {
        labeled(64 * MiB, "main", Category::parameter, "Restorer.encoder.weight");
        const StackId stack = test::stack_of(
            run.trace.stacks, {{"/venv/lib/python3.12/site-packages/torch/nn/parameter.py", "__deepcopy__"},
                               {"/usr/lib/python3.12/copy.py", "deepcopy"},
                               {caller, "HyperparametersMixin.save_hyperparameters"},
                               {"/home/anna/project/train.py", "Restorer.__init__"}});
        copy = run.alloc(static_cast<uint64_t>(bytes), stack);
        graph.label(memory(copy), run.now(), Category::parameter, "VisionTransformer.encoder.weight");
        run.free(run.alloc(MiB, run.line("train")));
    }
    std::vector<CopiedArguments> copies() { return find_copied_arguments(*make_context()); }

    AllocationIndex copy = no_allocation;
};

constexpr std::string_view lightning = "/venv/site-packages/lightning/pytorch/core/mixins/hparams_mixin.py";

TEST(ExplainCopiedArguments, AreWaste) {
    const Findings findings = Copied(lightning).diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].title, "save_hyperparameters() made a copy of 64.0 MiB that nothing uses");
    EXPECT_EQ(findings[0].line, "train.py:40 Restorer.__init__");
    EXPECT_EQ(findings[0].text.at(1), "It contains parameters of `VisionTransformer`.");
    EXPECT_NE(findings[0].fixes.at(0).code.find("ignore="), std::string::npos);
}

TEST(ExplainCopiedArguments, AreThoseOfAnyVersionOfLightning) {
    EXPECT_EQ(Copied("/venv/site-packages/pytorch_lightning/core/mixins/hparams_mixin.py").copies().size(), 1u);
}

TEST(ExplainCopiedArguments, AreNoneOfOtherCopies) {
    EXPECT_TRUE(Copied("/home/anna/project/teacher.py").copies().empty()) << "a copy that the program made itself";
    EXPECT_TRUE(Copied("/home/anna/project/core/mixins/hparams_mixin.py").copies().empty());
    EXPECT_TRUE(Copied(lightning, MiB).copies().empty()) << "a small part";
    Copied freed(lightning);
    freed.run.free(freed.copy);
    freed.run.alloc(MiB, freed.run.line("keep"));
    EXPECT_TRUE(freed.copies().empty());
}

}  // namespace
}  // namespace tidemark
