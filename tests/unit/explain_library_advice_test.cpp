// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The fixes that libraries offer.
#include "storage/explain/library_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/failing_program.h"

namespace tidemark::test {
namespace {

using testing::HasSubstr;

struct LibraryCase {
    std::string file, function, code;
    bool if_requested;  ///< a request proves it, too
};

TEST(LibraryAdvice, NamesTheApi) {
    const std::vector<LibraryCase> cases{
        {"transformers/trainer_pt_utils.py", "EvalLoopContainer.add", "eval_accumulation_steps", true},
        {"transformers/loss/loss_utils.py", "ForCausalLMLoss", "use_liger_kernel", true},
        {"transformers/cache_utils.py", "DynamicLayer.update", "cache_implementation", false},
        {"transformers/generation/logits_process.py", "TemperatureLogitsWarper.__call__", "output_scores=False", false},
        {"torchmetrics/utilities/data.py", "dim_zero_cat", "metric.reset()", true},
        {"torchmetrics/classification/auroc.py", "BinaryAUROC.update", "metric.reset()", false},
        {"diffusers/models/autoencoders/vae.py", "Decoder.forward", "enable_tiling", true},
        {"lightning/pytorch/loops/prediction_loop.py", "_PredictionLoop._predict_step", "return_predictions", false},
        {"pytorch_lightning/loops/evaluation_loop.py", "_evaluation_step", "on_validation_epoch_end", false},
        {"lightning/pytorch/loops/training_epoch_loop.py", "advance", "on_train_epoch_end", false},
        {"accelerate/accelerator.py", "Accelerator.prepare", "free_memory", false},
        {"accelerate/utils/operations.py", "gather", ".cpu()", false},
        {"peft/peft_model.py", "PeftModel.add_adapter", "delete_adapter", false},
        {"torch/distributed/distributed_c10d.py", "new_group", "destroy_process_group", false},
        {"torch_geometric/data/data.py", "BaseData.to", "data.clone()", false}};
    const Words words(Language::english);
    for (const LibraryCase& known : cases) {
        SCOPED_TRACE(known.file);
        RunBuilder run;
        const StackId stack = stack_of(
            run.trace.stacks,
            {{packages + "torch/functional.py", "op"}, {packages + known.file, known.function}, {own, "main"}});
        const auto growth = library_fix_of_growth(run.trace, words, stack);
        ASSERT_TRUE(growth);
        EXPECT_THAT(growth->code, HasSubstr(known.code));
        EXPECT_FALSE(growth->text.empty());
        EXPECT_EQ(library_fix_of_request(run.trace, words, stack).has_value(), known.if_requested);
    }
}

/// One cache of the program gets the tokens of all requests; caches that become more are those of old requests.
TEST(LibraryAdvice, CropsTheCacheThatAnObjectOfTheProgramPassesToEachCall) {
    RunBuilder run;
    stack_of(run.trace.stacks,
             {{packages + "transformers/cache_utils.py", "DynamicLayer.update"}, {own, "Ranker.rank"}});
    test::GraphBuilder graph;
    const auto code_for = [&](const std::string& attribute, Growth growth, const std::string& function = "generate") {
        const uint32_t file = graph.text(own);
        const std::vector<PathLink> links{{PathLinkKind::local, graph.text("self"), graph.text(function), file, 0},
                                          {PathLinkKind::attribute, graph.text(attribute), 0, 0, 0},
                                          {PathLinkKind::attribute, graph.text("layers of DynamicCache"), 0, 0, 0},
                                          {PathLinkKind::index, graph.text("0"), 0, 0, 0},
                                          {PathLinkKind::attribute, graph.text("keys of DynamicLayer"), 0, 0, 0}};
        return library_fix_of_path(run.trace, graph.tables, Words(Language::english), links, growth).value().code;
    };
    EXPECT_THAT(code_for("cache of Ranker", Growth::of_size), HasSubstr("cache.crop(length)"));
    EXPECT_THAT(code_for("cache of Ranker", Growth::of_count), HasSubstr("cache_implementation"));
    EXPECT_THAT(code_for("cache of GenerationState", Growth::of_size), HasSubstr("cache_implementation"));
    EXPECT_THAT(code_for("cache of Output", Growth::of_size, "Ranker.rank"), HasSubstr("cache.crop(length)"))
        << "a variable of the program";
}

TEST(LibraryAdvice, KnowsTheAcceleratorByAnyCodeOfItsLibrary) {
    RunBuilder run;
    test::GraphBuilder graph;
    const std::vector<PathLink> links{{PathLinkKind::attribute, graph.text("_models of Accelerator"), 0, 0, 0}};
    const auto fix = [&] {
        return library_fix_of_path(run.trace, graph.tables, Words(Language::english), links, Growth::of_count);
    };
    EXPECT_FALSE(fix()) << "a class of the program may have this name";
    stack_of(run.trace.stacks, {{packages + "accelerate/optimizer.py", "AcceleratedOptimizer.step"}, {own, "main"}});
    EXPECT_THAT(fix().value().code, HasSubstr("free_memory"));
}

TEST(LibraryAdvice, NamesTheCacheOfGenerate) {
    RunBuilder run;
    const StackId stack = stack_of(run.trace.stacks, {{packages + "transformers/cache_utils.py", "DynamicLayer.update"},
                                                      {packages + "transformers/generation/utils.py", "generate"}});
    EXPECT_TRUE(library_fix_of_request(run.trace, Words(Language::english), stack));
}

/// transformers refuses `cache_implementation` beside `past_key_values`.
TEST(LibraryAdvice, ChangesNoArgumentThatTheCallOfGenerateHas) {
    const auto fix_with_line = [](const std::string& line) {
        RunBuilder run;
        const StackId stack =
            stack_of(run.trace.stacks, {{packages + "transformers/cache_utils.py", "DynamicLayer.update"},
                                        {packages + "transformers/generation/utils.py", "generate"},
                                        {own, "ask"}});
        const int32_t called = run.trace.stacks.frame(run.trace.stacks.site(stack)).line;
        run.trace.source_text.add(own, called, "    tokens = self.model.generate(");
        run.trace.source_text.add(own, called + 1, line);
        return library_fix_of_request(run.trace, Words(Language::english), stack).value();
    };
    EXPECT_EQ(fix_with_line("        tokens,").code,
              "model.generate(..., max_new_tokens=256, cache_implementation=\"offloaded\")");
    EXPECT_EQ(fix_with_line("        max_new_tokens=ANSWER,").code,
              "model.generate(..., cache_implementation=\"offloaded\")");
    EXPECT_EQ(fix_with_line("        past_key_values=cache,").code, "");
    EXPECT_THAT(fix_with_line("        past_key_values=cache,").text, HasSubstr("drop the cache"));
    EXPECT_NE(fix_with_line("        past_key_values=None,").code, "");
}

TEST(LibraryAdvice, NamesTheLinesWhoseCallsItChanges) {
    RunBuilder run;
    const StackId stack = stack_of(
        run.trace.stacks, {{packages + "transformers/trainer_pt_utils.py", "EvalLoopContainer.add"}, {own, "main"}});
    run.trace.source_text.add(own, 44, "    arguments = TrainingArguments(");
    run.trace.source_text.add(own, 55, "    trainer = Trainer(");
    run.trace.source_text.add(own, 63, "    trainer = MyTrainer(model)");
    EXPECT_EQ(library_fix_of_request(run.trace, Words(Language::english), stack).value().code,
              "TrainingArguments(..., eval_accumulation_steps=1)  # train.py:44\n# or\n"
              "Trainer(..., preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(dim=-1))  "
              "# train.py:55");
}

TEST(LibraryAdvice, IgnoresFoldersOfTheProgram) {
    RunBuilder run;
    const StackId stack = stack_of(run.trace.stacks, {{"/home/anna/torchmetrics/mine.py", "update"}});
    EXPECT_FALSE(library_fix_of_growth(run.trace, Words(Language::english), stack));
    EXPECT_FALSE(library_fix_of_growth(run.trace, Words(Language::english), 0));
}

}  // namespace
}  // namespace tidemark::test
