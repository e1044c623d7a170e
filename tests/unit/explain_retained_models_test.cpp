// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What is said to retain models that accumulate: a referrer of one model is none of all, and cycles are garbage that
// nobody collects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;
using Kind = PathLinkKind;

/// 12 steps that each create a model of class Net, which stays.
struct Folds : Program {
    Folds() {
        for (int i = 0; i < 12; ++i) {
            run.free(run.alloc(4 * MiB, run.line("train")));
            models.push_back(labeled(MiB, "build", Category::parameter, "Net.layer.weight"));
            run.step();
        }
    }

    /// The scan finds models, from `first` on, by paths that begin with this link. `element`: one more into a list.
    void scan(ScanReason reason, Kind kind, const std::string& name, size_t first, bool element = false) {
        graph.tables.scans.push_back({time_++, reason, 10, 100, 20});
        const auto number = static_cast<uint32_t>(graph.tables.scans.size() - 1);
        for (size_t i = first; i < models.size(); ++i) {
            std::vector<PathLink> links{{kind, graph.text(name), graph.text("fit"), graph.text("train.py"), 3}};
            if (element) {
                links.push_back({Kind::index, graph.text(std::to_string(i)), 0, 0, 0});
            }
            links.push_back({Kind::attribute, graph.text("layer of Net"), 0, 0, 0});
            links.push_back({Kind::attribute, graph.text("weight of Linear"), 0, 0, 0});
            graph.tables.referrers.push_back({number, no_node, memory(models[i]), links});
        }
    }

    Finding finding() {
        const Explanation explanation = explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
        EXPECT_EQ(test::leaks_of(explanation), "models-retained");
        return explanation.findings.front();
    }

    std::vector<AllocationIndex> models;

private:
    int64_t time_ = run.now() - 4;
};

TEST(ExplainRetainedModels, OneOptimizerRetainsParametersThatWereReplaced) {
    Folds program;
    program.run.trace.annotations.push_back({"Optimizer.step#Adam.step", AnnotationKind::user, 0, 1, 2, true});
    program.scan(ScanReason::growing_sites, Kind::local, "optimizer", 0);
    for (Referrer& referrer : program.graph.tables.referrers) {
        referrer.links.resize(1);
        referrer.links.push_back({Kind::attribute, program.graph.text("state of Adam"), 0, 0, 0});
        referrer.links.push_back({Kind::item, program.graph.text("Parameter"), 0, 0, 0});
    }
    const auto tables = std::make_shared<const GraphTables>(program.graph.tables);
    const Explanation explanation = explained(*program.run.make_context(tables));
    ASSERT_EQ(test::leaks_of(explanation), "parameters-grow");
    EXPECT_NE(explanation.findings[0].fixes.at(0).code.find("optimizer.state.pop(parameter"), std::string::npos);
    EXPECT_NE(explanation.findings[0].referrer.find("`optimizer.state`"), std::string::npos)
        << explanation.findings[0].referrer;
}

/// An adapter's layers may have names of their own until they belong to the model.
TEST(ExplainRetainedModels, ACacheOfAMethodIsNamed) {
    Folds program;
    program.scan(ScanReason::end, Kind::global, "Net", 0);
    for (Referrer& referrer : program.graph.tables.referrers) {
        referrer.links.front() = {Kind::global, program.graph.text("Net"), 0, 0, 0};
        const std::vector<PathLink> cache{{Kind::attribute, program.graph.text("bias"), 0, 0, 0},
                                          {Kind::attribute, program.graph.text("cache of Net.bias"), 0, 0, 0},
                                          {Kind::element, 0, 0, 0, 0}};
        referrer.links.insert(referrer.links.begin() + 1, cache.begin(), cache.end());
    }
    const Finding finding = program.finding();
    ASSERT_EQ(finding.fixes.size(), 2u);
    EXPECT_TRUE(finding.fixes[0].text.starts_with("`functools.lru_cache` on the method `Net.bias` retains `self`."))
        << finding.fixes[0].text;
    EXPECT_EQ(finding.fixes[1].code, "Net.bias.cache_clear()");
}

/// A model that gets adapters, until the function with the model returns.
struct Adapters : Program {
    Adapters() : base(labeled(MiB, "build", Category::parameter, "Peft.base.weight")) {
        std::vector<AllocationIndex> all{base};
        for (int i = 0; i < 12; ++i) {
            run.free(run.alloc(4 * MiB, run.line("train")));
            all.push_back(labeled(MiB, "add_adapter", Category::parameter, "Linear.weight"));
            for (const char* layer : {"q", "k", "v"}) {
                all.push_back(
                    labeled(MiB, "add_adapter", Category::parameter, fmt::format("Peft.{}.user_{}.weight", layer, i)));
            }
            run.step();
        }
        const int64_t time = run.now() - 1;
        for (const AllocationIndex a : all) {
            run.free(a);
        }
        graph.tables.scans = {{time - 1, ScanReason::memory_grows, 1, 100, 20},
                              {time, ScanReason::growing_sites, 1, 100, 20},
                              {run.now(), ScanReason::end, 1, 100, 20}};
    }

    Explanation explanation() {
        return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
    }

    AllocationIndex base;
};

TEST(ExplainRetainedModels, LayersOfOneModelAreNoModels) {
    const Explanation explanation = Adapters().explanation();
    EXPECT_EQ(test::leaks_of(explanation), "parameters-grow");
    EXPECT_NE(explanation.findings.front().title.find("`Peft`"), std::string::npos);
    EXPECT_EQ(explanation.findings.front().referrer, "");
}

/// The scans found one tensor of the model, which is none of those that were added.
TEST(ExplainRetainedModels, WhatRetainsAModelThatGetsLayersIsNamed) {
    Adapters program;
    program.graph.tables.referrers.push_back(
        {0,
         no_node,
         Program::memory(program.base),
         {{Kind::local, program.graph.text("model"), program.graph.text("main"), program.graph.text("train.py"), 3},
          {Kind::attribute, program.graph.text("base of Peft"), 0, 0, 0},
          {Kind::attribute, program.graph.text("weight of Linear"), 0, 0, 0}}});
    const Explanation explanation = program.explanation();
    ASSERT_EQ(test::leaks_of(explanation), "parameters-grow");
    EXPECT_EQ(explanation.findings.front().referrer, "`model` (variable of main, train.py:3)");
}

/// Loads ever smaller models, whose embeddings are larger, and evicts the oldest ones if they exceed the limit.
std::string leaks_of_host(int64_t limit) {
    Program program;
    std::deque<std::array<AllocationIndex, 2>> models;
    const auto& size = program.run.device().allocations.block_size;
    int64_t used = 0;
    for (int i = 0; i < 30; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("serve")));
        models.push_back(
            {program.labeled((10 + i / 2) * MiB, "load", Category::parameter, "Bert.embedding.weight"),
             program.labeled((130 - 3 * i) * MiB, "load_encoder", Category::parameter, "Bert.encoder.weight")});
        used += static_cast<int64_t>(size[models.back()[0]] + size[models.back()[1]]);
        while (used > limit) {
            for (const AllocationIndex part : models.front()) {
                used -= static_cast<int64_t>(size[part]);
                program.run.free(part);
            }
            models.pop_front();
        }
        program.run.step();
    }
    return test::leaks_of(explained(*program.make_context()));
}

TEST(ExplainRetainedModels, ModelsThatReplaceOthersDoNotPileUp) {
    EXPECT_EQ(leaks_of_host(420 * MiB), "");
    EXPECT_EQ(leaks_of_host(100'000 * MiB), "models-retained");
}

TEST(ExplainRetainedModels, AVariableOfOneModelDoesNotRetainAll) {
    Folds program;
    program.scan(ScanReason::growing_sites, Kind::local, "model", 11);
    EXPECT_EQ(program.finding().title, "12 models of class `Net` are alive");
}

/// The model that stands for the others has no path, but the oldest ones do.
TEST(ExplainRetainedModels, ExceptionsOfAFewModelsAreNamed) {
    Folds program;
    program.graph.tables.scans.push_back({program.run.now(), ScanReason::growing_sites, 10, 100, 20});
    for (size_t i = 0; i < 2; ++i) {
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(program.models[i]),
             {{Kind::local, program.graph.text("failed"), program.graph.text("fit"), program.graph.text("train.py"), 3},
              {Kind::index, program.graph.text(std::to_string(i)), 0, 0, 0},
              {Kind::exception, 0, program.graph.text("run"), program.graph.text("train.py"), 9},
              {Kind::local, program.graph.text("net"), 0, 0, 0},
              {Kind::attribute, program.graph.text("layer of Net"), 0, 0, 0},
              {Kind::attribute, program.graph.text("weight of Linear"), 0, 0, 0}}});
    }
    const Finding finding = program.finding();
    EXPECT_EQ(finding.fixes.at(0).code, "failed.append(str(error))");
}

TEST(ExplainRetainedModels, TheListOfMostModelsRetainsThem) {
    Folds program;
    program.scan(ScanReason::growing_sites, Kind::local, "prepared", 0, true);
    program.scan(ScanReason::growing_sites, Kind::local, "model", 11);
    EXPECT_NE(program.finding().referrer.find("`prepared`"), std::string::npos) << program.finding().referrer;
}

/// Parameters that no path of the list was found for do not hide the library that fills it.
TEST(ExplainRetainedModels, AnAcceleratorHasItsOwnFix) {
    Folds program;
    test::stack_of(program.run.trace.stacks,
                   {{"/v/lib/python3.12/site-packages/accelerate/optimizer.py", "AcceleratedOptimizer.step"}});
    program.scan(ScanReason::growing_sites, Kind::local, "accelerator", 0, true);
    for (Referrer& referrer : program.graph.tables.referrers) {
        referrer.links.insert(referrer.links.begin() + 1,
                              {Kind::attribute, program.graph.text("_models of Accelerator"), 0, 0, 0});
    }
    const Finding finding = program.finding();
    EXPECT_NE(finding.fixes.at(0).code.find("free_memory"), std::string::npos) << finding.fixes[0].text;
    EXPECT_EQ(finding.fixes.size(), 2U) << "each fix once";
    EXPECT_EQ(finding.path.at(1).text, "attribute _models of Accelerator");
}

/// The typical tensor has no path, or another one.
TEST(ExplainRetainedModels, ThePathLeadsToTheModels) {
    Folds program;
    program.scan(ScanReason::growing_sites, Kind::local, "prepared", 9, true);
    const Finding finding = program.finding();
    EXPECT_NE(finding.referrer.find("`prepared`"), std::string::npos) << finding.referrer;
    ASSERT_EQ(finding.path.size(), 5U);
    EXPECT_TRUE(finding.path[0].text.starts_with("variable prepared")) << finding.path[0].text;
    EXPECT_FALSE(finding.path[1].bytes) << "one parameter says nothing of a model";
    EXPECT_NE(finding.basis.find("found the referrer"), std::string::npos) << finding.basis;
}

/// A finalizer whose function is a method of the object never runs.
TEST(ExplainRetainedModels, ByFinalizersHaveTheirOwnFix) {
    Folds program;
    program.graph.tables.scans.push_back({program.run.now(), ScanReason::end, 10, 100, 20});
    const auto attribute = [&](const char* name) {
        return PathLink{Kind::attribute, program.graph.text(name), 0, 0, 0};
    };
    for (const AllocationIndex a : program.models) {
        const uint32_t key = program.graph.text("finalize " + std::to_string(a));
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(a),
             {{Kind::global, program.graph.text("finalize"), 0, program.graph.text("weakref.py"), 0},
              attribute("_registry of finalize"),
              {Kind::item, key, 0, 0, 0},
              attribute("func of _Info"),
              attribute("self of Trial.remove_files"),
              attribute("network of Trial"),
              attribute("layer of Net"),
              attribute("weight of Linear")}});
    }
    const Finding finding = program.finding();
    EXPECT_NE(finding.referrer.find("finalize._registry"), std::string::npos) << finding.referrer;
    ASSERT_EQ(finding.fixes.size(), 1u);
    EXPECT_NE(finding.fixes[0].text.find("A method of the object"), std::string::npos) << finding.fixes[0].text;
    EXPECT_GT(finding.fixes[0].bytes.value_or(0), 0);
}

TEST(ExplainRetainedModels, InCyclesThatNobodyCollectsAreGarbage) {
    for (const bool is_collected : {false, true}) {
        Folds program;
        program.scan(ScanReason::growing_sites, Kind::cycle, "Learner → LambdaLR → Learner", 0);
        program.scan(ScanReason::growing_sites, Kind::local, "learner", 11);
        program.scan(ScanReason::end, Kind::cycle, "Learner → LambdaLR → Learner", 0);
        if (is_collected) {
            const int64_t time = program.run.now() - 8;
            program.run.trace.annotations.push_back(
                {"garbage collection (40 objects)", AnnotationKind::garbage_collection, 0, time, time, true});
        }
        const Finding finding = program.finding();
        EXPECT_NE(finding.referrer.find("LambdaLR"), std::string::npos) << finding.referrer;
        EXPECT_EQ(
            finding.title == "12 models of class `Net` stay in reference cycles: the garbage collector does not run",
            !is_collected)
            << finding.title;
        EXPECT_EQ(finding.fixes.at(1).code.find("gc.collect()") == 0, !is_collected);
    }
}

}  // namespace
}  // namespace tidemark
