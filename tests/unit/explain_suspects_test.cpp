// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects and their causes: growing tensors, containers, models, reference cycles, autocast's copies.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;
using test::RunBuilder;

/// Returns a run in which L-BFGS appends a tensor to its history in each step. Its optimizer is a variable, or an
/// element of a list of optimizers.
Program fitted(bool is_in_list) {
    Program program;
    for (int i = 0; i < 20; ++i) {
        const AllocationIndex old = program.run.alloc(4 * MiB, program.run.line("fit"));
        program.add_referrer(old, "optimizer", is_in_list ? std::to_string(i) : "");
        std::vector<PathLink>& links = program.graph.tables.referrers.back().links;
        for (const auto& [kind, name] : {std::pair(PathLinkKind::attribute, std::string("state of LBFGS")),
                                         std::pair(PathLinkKind::item, std::string("Tensor")),
                                         std::pair(PathLinkKind::item, std::string("'old_dirs'")),
                                         std::pair(PathLinkKind::index, std::to_string(is_in_list ? 0 : i))}) {
            links.push_back({kind, program.graph.text(name), 0, 0, 0});
        }
        program.run.free(program.run.alloc(MiB, program.run.line("forward")));
        program.run.step();
    }
    return program;
}

TEST(ExplainSuspects, ExcludeTheHistoryOfOneOptimizer) {
    EXPECT_TRUE(fitted(false).make_context()->suspects().empty());
    EXPECT_EQ(fitted(true).make_context()->suspects().size(), 1u) << "optimizers that become more";
}

/// Returns a run of 60 steps, each of which retains 1 MiB from line `collect`.
Program collecting() {
    Program program;
    for (int i = 0; i < 60; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        program.run.alloc(MiB, program.run.line("collect"));
        program.run.free(work);
        program.run.step();
    }
    return program;
}

std::vector<AllocationIndex> retained_by(const Program& program) {
    std::vector<AllocationIndex> retained;
    const auto& freed = program.run.trace.devices[0].allocations.free_event;
    for (AllocationIndex a = 0; a < freed.size(); ++a) {
        if (freed[a] == never) {
            retained.push_back(a);
        }
    }
    return retained;
}

TEST(ExplainContainer, APlainVariableExplainsNoGrowthOfCount) {
    for (const bool has_elements : {true, false}) {
        Program program = collecting();
        int element = 0;
        for (const AllocationIndex a : retained_by(program)) {
            program.add_referrer(a, "outputs", has_elements ? std::to_string(element++) : "");
        }
        const Explanation explanation = explained(*program.make_context());
        ASSERT_EQ(test::leaks_of(explanation), has_elements ? "growing-container" : "unexplained-growth");
        EXPECT_EQ(explanation.findings[0].count, 60);
        EXPECT_EQ(explanation.findings[0].bytes, 60 * MiB);
        EXPECT_EQ(explanation.findings[0].referrer.find("`outputs`") != std::string::npos, has_elements);
    }
}

TEST(ExplainContainer, EntriesOfADictAreRemovedByKey) {
    Program program = collecting();
    int key = 0;
    for (const AllocationIndex a : retained_by(program)) {
        program.add_referrer(a, "streams", "client-" + std::to_string(key++));
        program.graph.tables.referrers.back().links.back().kind = PathLinkKind::item;
    }
    const Explanation explanation = explained(*program.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-container");
    const auto& fixes = explanation.findings[0].fixes;
    ASSERT_EQ(fixes.size(), 2u);
    EXPECT_EQ(fixes[0].code, "streams[key] = tensor.detach().cpu()");
    EXPECT_EQ(fixes[1].code, "streams.pop(key, None)");
}

/// functools.lru_cache keeps its entries without names.
TEST(ExplainContainer, ACacheOfAFunctionIsLimited) {
    Program program = collecting();
    for (const AllocationIndex a : retained_by(program)) {
        program.add_referrer(a, "propagation", "0");
        PathLink& link = program.graph.tables.referrers.back().links.back();
        link.kind = PathLinkKind::attribute;
        link.name = program.graph.text("cache of propagation");
    }
    const Explanation explanation = explained(*program.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-container");
    EXPECT_EQ(explanation.findings[0].fixes[0].code, "@functools.lru_cache(maxsize=16)");
    EXPECT_EQ(explanation.findings[0].fixes[1].code, "propagation.cache_clear()");
}

/// All tensors have the same path, of two attributes from the variable of a call.
std::string leaks_along(const std::string& attribute, const std::string& next) {
    Program program = collecting();
    for (const AllocationIndex a : retained_by(program)) {
        program.add_referrer(a, "self", "0");
        std::vector<PathLink>& links = program.graph.tables.referrers.back().links;
        links.front().kind = PathLinkKind::local;
        links.front().function = program.graph.text("Model.fit");
        links.back() = {PathLinkKind::attribute, program.graph.text(attribute), 0, 0, 0};
        links.push_back({PathLinkKind::attribute, program.graph.text(next), 0, 0, 0});
    }
    return test::leaks_of(explained(*program.make_context()));
}

TEST(ExplainContainer, ResultsOfACachedFunctionAreNoUnfinishedCalls) {
    EXPECT_EQ(leaks_along("kernel of Model", "cache of Model.kernel"), "growing-container");
}

/// The recorder leaves out links of long paths: the layers of a model then have one path.
TEST(ExplainContainer, PathsWithoutSomeLinksAreNoUnfinishedCalls) {
    EXPECT_EQ(leaks_along("kernel of Model", "weight of Linear"), "unfinished-calls");
    const std::string leaks = leaks_along("… (1 references left out)", "weight of Linear");
    EXPECT_EQ(leaks.find("unfinished-calls"), std::string::npos) << leaks;
}

/// Several calls of one function have each a variable of the same name.
TEST(ExplainContainer, TensorsWithOnePathBelongToUnfinishedCalls) {
    for (const bool is_element : {false, true}) {
        Program program = collecting();
        for (const AllocationIndex a : retained_by(program)) {
            program.add_referrer(a, "history", is_element ? "0" : "");
            PathLink& variable = program.graph.tables.referrers.back().links.front();
            variable.kind = PathLinkKind::local;
            variable.function = program.graph.text("Session.run");
        }
        const Explanation explanation = explained(*program.make_context());
        ASSERT_EQ(test::leaks_of(explanation), "unfinished-calls");
        const Finding& leak = explanation.findings[0];
        EXPECT_EQ(leak.title, "60 calls of Session.run have not returned and retain 60.0 MiB");
        EXPECT_NE(leak.referrer.find("variable of Session.run"), std::string::npos) << leak.referrer;
        EXPECT_NE(leak.text[0].find("`history`"), std::string::npos) << leak.text[0];
    }
}

/// Each task has a context of its own; the set of all tasks gives no names.
TEST(ExplainContainer, TensorsWithOnePathFromAContextVariableBelongToUnfinishedTasks) {
    for (const std::string function : {"Context", "Board.pulse"}) {
        Program program = collecting();
        for (const AllocationIndex a : retained_by(program)) {
            program.add_referrer(a, "service", "0");
            std::vector<PathLink>& links = program.graph.tables.referrers.back().links;
            links.back() = {PathLinkKind::element, 0, 0, 0, 0};
            const uint32_t file = function == "Context" ? 0 : program.graph.text("service.py");
            links.push_back(
                {PathLinkKind::global, program.graph.text("current_clip"), program.graph.text(function), file, 7});
            links.push_back({PathLinkKind::attribute, program.graph.text("features of Clip"), 0, 0, 0});
        }
        const Explanation explanation = explained(*program.make_context());
        ASSERT_EQ(test::leaks_of(explanation), "unfinished-calls");
        const Finding& leak = explanation.findings[0];
        EXPECT_EQ(leak.title, (function == "Context" ? "60 contexts" : "The contexts of 60 tasks of Board.pulse") +
                                  std::string(" retain 60.0 MiB through the context variable `current_clip`"));
        EXPECT_NE(leak.fixes[1].code.find("contextvars.Context()"), std::string::npos);
    }
}

/// A scan in the first of a few iterations finds the variable of one input that a graph saved.
TEST(ExplainContainer, AVariableOfOneSavedTensorDoesNotRetainTheGraphs) {
    Program program;
    for (int i = 0; i < 30; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        const AllocationIndex input = program.run.alloc(MiB, program.run.line("load"));
        const AllocationIndex output = program.run.alloc(512, program.run.line("forward"));
        program.node("SoftmaxBackward0", {}, {input, output}, output, "forward");
        program.add_referrer(input, "x");
        program.run.free(work);
        program.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "eval-without-no-grad");
    EXPECT_EQ(explanation.findings[0].referrer, "");
    EXPECT_EQ(explanation.findings[0].confidence, Confidence::likely);
}

/// The keys of a dict may print alike: `state[Parameter]`.
TEST(ExplainContainer, TensorsWithOneKeyAreNoProofOfUnfinishedCalls) {
    Program program = collecting();
    for (const AllocationIndex a : retained_by(program)) {
        program.add_referrer(a, "state", "0");
        std::vector<PathLink>& links = program.graph.tables.referrers.back().links;
        links.front().kind = PathLinkKind::local;
        links.back().kind = PathLinkKind::item;
    }
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())), "growing-container");
}

/// A scan for growing sites looks for the memory that existed when it was requested.
TEST(ExplainContainer, MemoryAfterTheLastOneThatTheScanFoundBelongsToIt) {
    Program program = collecting();
    const std::vector<AllocationIndex> retained = retained_by(program);
    for (size_t i = 0; i + 5 < retained.size(); ++i) {
        program.add_referrer(retained[i], "outputs", std::to_string(i));
    }
    const Explanation explanation = explained(*program.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-container");
    EXPECT_EQ(explanation.findings[0].count, 60);
}

/// A list is filled by one line, and then another line replaces its elements.
TEST(ExplainContainer, ReplacedElementsAreNoGrowth) {
    for (const bool replaces : {true, false}) {
        Program program;
        std::vector<AllocationIndex> window;
        for (size_t i = 0; i < 70; ++i) {
            const bool is_full = i >= 40;
            const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
            const AllocationIndex entry = program.run.alloc(MiB, program.run.line(is_full ? "replace" : "append"));
            if (is_full && replaces) {
                program.run.free(window[i - 40]);
                window[i - 40] = entry;
            } else {
                window.push_back(entry);
            }
            program.run.free(work);
            program.run.step();
        }
        int element = 0;
        for (const AllocationIndex a : window) {
            program.add_referrer(a, "window", std::to_string(element++));
        }
        EXPECT_EQ(test::leaks_of(explained(*program.make_context())), replaces ? "" : "growing-container");
    }
}

/// What becomes of the embeddings of models that a cache has evicted.
enum class Evicted { freed, retained };

/// Returns a run whose cache of models of different size evicts the least recently used ones. One line makes the
/// models, each with its embeddings and its layers; a scan found the referrers of the layers only. By chance, the late
/// embeddings are larger than the early ones. `frees_layers`: of evicted models. `is_scanned`: false: no referrers.
Program host(Evicted embeddings, bool frees_layers = true, bool is_scanned = true) {
    struct Model {
        int64_t embeddings, layers;     ///< the embeddings in MiB; number of layers
        std::optional<size_t> evicted;  ///< before this model is made
    };
    const std::vector<Model> models{{118, 12, 6}, {126, 12, 8}, {126, 10, 11}, {122, 10, 8},  {122, 8, 10},
                                    {114, 8, {}}, {118, 8, 9},  {156, 12, {}}, {122, 10, 12}, {188, 12, 13},
                                    {109, 6, {}}, {117, 8, 14}, {196, 10, {}}, {136, 8, {}},  {188, 12, {}}};
    Program program;
    RunBuilder& run = program.run;
    const auto part = [&](const std::string& module) {
        return test::stack_of(run.trace.stacks, {{"/home/anna/site-packages/torch/nn/modules.py", module},
                                                 {"/home/anna/project/train.py", "load"}});
    };
    const auto mib = [](int64_t size) { return static_cast<uint64_t>(size * MiB / 8); };
    std::vector<std::pair<AllocationIndex, AllocationIndex>> made;
    for (size_t i = 0; i < models.size(); ++i) {
        for (size_t old = 0; old < i; ++old) {
            if (models[old].evicted == i && embeddings == Evicted::freed) {
                run.free(made[old].first);
            }
            if (models[old].evicted == i && frees_layers) {
                run.free(made[old].second);
            }
        }
        made.emplace_back(run.alloc(mib(models[i].embeddings), part("Embedding")),
                          run.alloc(mib(models[i].layers * 54), part("Layers")));
        run.free(run.alloc(4 * MiB, run.line("rate")));
        run.step();
    }
    for (size_t i = 0; i < models.size(); ++i) {
        if (is_scanned && (!frees_layers || !models[i].evicted)) {
            program.add_referrer(made[i].second, "residents", std::to_string(i));
        }
    }
    return program;
}

/// A new entry is no element of its container until it is complete, so a scan meanwhile does not find its parts.
TEST(ExplainContainer, PartsOfEntriesThatAreReplacedAreNoGrowth) {
    Program replaced = host(Evicted::freed), retained = host(Evicted::retained);
    EXPECT_EQ(test::leaks_of(explained(*replaced.make_context())), "");
    EXPECT_EQ(test::leaks_of(explained(*retained.make_context())), "unexplained-growth");
}

TEST(ExplainContainer, PartsOfEntriesOfAContainerThatGrowsAreGrowth) {
    Program program = host(Evicted::freed, false);
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())), "growing-container");
}

TEST(ExplainContainer, ANumberThatStaysIsNoGrowthWithoutReferrersEither) {
    Program replaced = host(Evicted::freed, true, false), retained = host(Evicted::retained, true, false);
    EXPECT_EQ(test::leaks_of(explained(*replaced.make_context())), "");
    EXPECT_EQ(test::leaks_of(explained(*retained.make_context())), "unexplained-growth");
}

/// A list that is cleared in part now and then grows all the same.
TEST(ExplainContainer, PartsOfEntriesAreGrowthIfFewerAreRemovedThanAdded) {
    Program program;
    std::vector<std::pair<AllocationIndex, AllocationIndex>> entries;
    for (size_t i = 0; i < 60; ++i) {
        const StackId values =
            test::stack_of(program.run.trace.stacks,
                           {{"/home/anna/site-packages/torch/a.py", "tanh"}, {"/home/anna/project/train.py", "keep"}});
        entries.emplace_back(program.run.alloc(MiB, program.run.line("keep")), program.run.alloc(2 * MiB, values));
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        if (i % 8 == 7) {
            for (size_t removed = 0; removed < 3; ++removed) {
                program.run.free(entries.front().first);
                program.run.free(entries.front().second);
                entries.erase(entries.begin());
            }
        }
        program.run.step();
    }
    for (size_t i = 0; i < entries.size(); ++i) {
        program.add_referrer(entries[i].second, "kept", std::to_string(i));
    }
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())), "growing-container unexplained-growth");
}

/// The scan came early, so it knows few of the tensors.
TEST(ExplainContainer, IsNamedByTheOldestOfTwoTensorsThatAScanCouldFind) {
    Program program;
    std::vector<AllocationIndex> collected;
    for (int i = 0; i < 16; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        if (i % 5 == 4) {
            collected.push_back(program.run.alloc(MiB, program.run.line("collect")));
        }
        program.run.free(work);
        program.run.step();
    }
    program.add_referrer(collected.front(), "outputs", "0");
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())), "growing-container");
}

TEST(ExplainContainer, GrowthOfCountAndOfSizeAreTwoSuspects) {
    Program program;
    const uint32_t cat = program.run.origin("aten::cat");
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const AllocationIndex whole = program.run.alloc(i * 2 * MiB, program.run.line("append"), cat);
        if (before != no_allocation) {
            program.run.free(before);
        }
        before = whole;
        program.add_referrer(program.run.alloc(MiB, program.run.line("collect")), "state", std::to_string(i));
        program.run.step();
    }
    program.add_referrer(before, "state", "0");
    const Explanation explanation = explained(*program.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "growing-tensor growing-container");
}

TEST(ExplainContainer, UnknownMemoryIsDividedByLine) {
    Program program;
    program.labeled(512, "main", Category::input);
    for (int i = 0; i < 20; ++i) {
        program.run.alloc(MiB, program.run.line("encode"));
        program.run.alloc(2 * MiB, program.run.line("decode"));
        program.run.step();
    }
    const auto context = program.make_context();
    ASSERT_EQ(context->suspects().size(), 2u) << "two lines";
    EXPECT_EQ(context->suspects()[0].per_iteration, 2 * MiB);
    EXPECT_EQ(context->suspects()[1].per_iteration, MiB);
    const auto retained = retained_by(program);
    for (size_t i = 1; i < retained.size(); ++i) {
        program.add_referrer(retained[i], "outputs", std::to_string(i));
    }
    ASSERT_EQ(program.make_context()->suspects().size(), 1u) << "one list";
}

/// Returns a run that creates two tensors in each of 12 steps, of this category and with these names; "#" in a name
/// stands for the step.
Program creating(Category category, const std::vector<std::string>& names) {
    Program program;
    for (int i = 0; i < 12; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        for (std::string name : names) {
            if (const size_t at = name.find('#'); at != std::string::npos) {
                name.replace(at, 1, std::to_string(i));
            }
            program.labeled(MiB, "build", category, name);
        }
        program.run.step();
    }
    return program;
}

TEST(ExplainModels, WithTheSameNamesAreRetained) {
    const Explanation explanation =
        explained(*creating(Category::parameter, {"Net.layer.weight", "Net.layer.bias"}).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "models-retained");
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.count, 12);
    EXPECT_EQ(leak.bytes, 24 * MiB);
    EXPECT_EQ(leak.per_iteration, 2 * MiB);
    EXPECT_EQ(leak.title, "12 models of class `Net` are alive");
}

TEST(ExplainModels, WithNewNamesGetMoreParameters) {
    const Explanation explanation =
        explained(*creating(Category::parameter, {"Net.heads.#.weight", "Net.heads.#.bias"}).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "parameters-grow");
    EXPECT_NE(explanation.findings[0].title.find("24 parameters"), std::string::npos) << explanation.findings[0].title;
}

TEST(ExplainModels, CountTheParametersOfTheTitleAndAccountForAllBytes) {
    Program program = creating(Category::parameter, {"Net.heads.#.weight", "Net.heads.#.bias"});
    const auto unlabeled = static_cast<AllocationIndex>(program.run.device().allocations.size() - 1);
    std::erase_if(program.graph.tables.labels, [&](const auto& label) { return label.allocation.index == unlabeled; });
    const Finding finding = explained(*program.make_context()).findings.at(0);
    EXPECT_EQ(finding.count, 23);
    EXPECT_NE(finding.title.find("23 parameters"), std::string::npos) << finding.title;
    EXPECT_NE(test::joined(finding.text).find("and other tensors"), std::string::npos) << test::joined(finding.text);
}

/// Parameters that an optimizer retains in this attribute.
Finding retained_by_optimizer(const std::string& attribute) {
    Program program = creating(Category::parameter, {"Net.heads.#.weight", "Net.heads.#.bias"});
    for (const AllocationIndex a : retained_by(program)) {
        program.graph.tables.referrers.push_back({0,
                                                  no_node,
                                                  Program::memory(a),
                                                  {{PathLinkKind::global, program.graph.text("optimizer"), 0, 0, 0},
                                                   {PathLinkKind::attribute, program.graph.text(attribute), 0, 0, 0},
                                                   {PathLinkKind::index, program.graph.text("0"), 0, 0, 0}}});
    }
    program.run.trace.annotations.push_back({"Optimizer.step#AdamW.step", AnnotationKind::user, 0, 1, 2, true});
    return explained(*program.make_context()).findings[0];
}

TEST(ExplainModels, ParametersThatTheOptimizerRetainsAreRemovedFromIt) {
    const Finding leak = retained_by_optimizer("param_groups of AdamW");
    EXPECT_NE(leak.referrer.find("`optimizer.param_groups`"), std::string::npos) << leak.referrer;
    ASSERT_EQ(leak.fixes.size(), 2U);
    const size_t pop = leak.fixes[0].code.find("optimizer.state.pop(parameter, None)");
    ASSERT_NE(pop, std::string::npos);
    EXPECT_NE(leak.fixes[0].code.find("optimizer.param_groups.remove(group)", pop), std::string::npos);
}

TEST(ExplainModels, ReplacedParametersArePoppedFromTheStateOrInitializedInPlace) {
    const Finding leak = retained_by_optimizer("state of AdamW");
    ASSERT_EQ(leak.fixes.size(), 3U);
    EXPECT_NE(leak.fixes[0].code.find("optimizer.state.pop(parameter, None)"), std::string::npos);
    EXPECT_EQ(leak.fixes[0].code.find("param_groups.remove"), std::string::npos);
    EXPECT_NE(leak.fixes[1].code.find("module.reset_parameters()"), std::string::npos);
}

TEST(ExplainModels, OptimizerStateAloneGrows) {
    const Explanation same = explained(*creating(Category::optimizer_state, {"exp_avg of Net.weight"}).make_context());
    ASSERT_EQ(test::leaks_of(same), "optimizer-state-grows");
    EXPECT_NE(same.findings[0].text[0].find("12 optimizers keep state for the same parameters"), std::string::npos);
    const Explanation other =
        explained(*creating(Category::optimizer_state, {"exp_avg of Net.heads.#.weight"}).make_context());
    ASSERT_EQ(test::leaks_of(other), "optimizer-state-grows");
    EXPECT_EQ(other.findings[0].text[0].find("optimizers"), std::string::npos);
}

TEST(ExplainModels, CreatedOnceAreNoLeak) {
    Program program;
    for (const char* name : {"Net.weight", "Net.weight", "Net.weight"}) {
        program.labeled(8 * MiB, "build", Category::parameter, name);
    }
    for (int i = 0; i < 12; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        program.run.step();
    }
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())), "");
}

/// Explains a run whose memory a scan found in reference cycles. `middle`: a span of this kind is in its middle.
Explanation of_cycles(ScanReason reason, std::optional<AnnotationKind> middle = {}) {
    Program program = collecting();
    GraphTables& tables = program.graph.tables;
    tables.scans = {{program.run.now(), reason, 10, 100, 20}};
    const uint32_t type = program.graph.text("Node");
    std::vector<AllocationRef> memory{{}};  // the first cycle has arrays of a library, which are no allocations
    for (const AllocationIndex a : retained_by(program)) {
        memory.push_back(Program::memory(a));
    }
    for (const AllocationRef& allocation : memory) {
        tables.referrers.push_back(
            {0,
             no_node,
             allocation,
             {{PathLinkKind::cycle, type, 0, 0, 0}, {PathLinkKind::attribute, program.graph.text("value"), 0, 0, 0}}});
    }
    if (middle) {
        const int64_t time = program.run.now() / 2;
        program.run.trace.annotations.push_back({"garbage collection (40 objects)", *middle, 0, time, time + 1, true});
    }
    return explained(*program.run.make_context(std::make_shared<const GraphTables>(tables)));
}

TEST(ExplainCyclesThatGrow, AreALeakIfNoCollectionRan) {
    for (const ScanReason reason : {ScanReason::growing_sites, ScanReason::memory_grows}) {
        const Explanation explanation = of_cycles(reason);
        ASSERT_EQ(test::leaks_of(explanation), "garbage-cycles");
        EXPECT_EQ(explanation.findings[0].count, 60);
        EXPECT_EQ(explanation.findings[0].per_iteration, MiB);
    }
    EXPECT_EQ(test::leaks_of(of_cycles(ScanReason::growing_sites, AnnotationKind::user)), "garbage-cycles");
}

TEST(ExplainCyclesThatGrow, AreNoGarbageAfterACollectionOrAtTheEndOnly) {
    EXPECT_EQ(
        test::leaks_of(of_cycles(ScanReason::growing_sites, AnnotationKind::garbage_collection)).find("garbage-cycles"),
        std::string::npos);
    EXPECT_EQ(test::leaks_of(of_cycles(ScanReason::end)).find("garbage-cycles"), std::string::npos);
}

TEST(ExplainCyclesThatGrow, AreHiddenByFreezing) {
    for (const int freezes : {0, 2, 5}) {
        Program program = collecting();
        GraphTables& tables = program.graph.tables;
        program.add_referrer(program.labeled(512, "main", Category::input), "batch");
        tables.scans = {{program.run.now(), ScanReason::memory_grows, 10, 100, 20}};
        for (int i = 0; i < freezes; ++i) {
            const int64_t time = program.run.now() / 2 + 2 * i;
            program.run.trace.annotations.push_back(
                {"gc.freeze (40 objects)", AnnotationKind::user, 0, time, time + 1, true});
        }
        const Explanation explanation =
            explained(*program.run.make_context(std::make_shared<const GraphTables>(tables)));
        EXPECT_EQ(test::leaks_of(explanation), freezes < 3 ? "unexplained-growth" : "garbage-cycles") << freezes;
        EXPECT_EQ(explanation.findings[0].title.find("gc.freeze()") != std::string::npos, freezes >= 3);
    }
}

TEST(ExplainCyclesThatGrow, AreNamedByAPathOfAnEarlierScan) {
    for (const bool has_name : {true, false}) {
        Program program = collecting();
        GraphTables& tables = program.graph.tables;
        tables.scans = {{program.run.now() - 1, ScanReason::memory_grows, 10, 100, 20},
                        {program.run.now(), ScanReason::end, 10, 100, 20}};
        const PathLink name{PathLinkKind::global, program.graph.text("trainer"), 0, 0, 0};
        const PathLink cycle{PathLinkKind::cycle, program.graph.text("Trainer"), 0, 0, 0};
        const PathLink outputs{PathLinkKind::attribute, program.graph.text("outputs"), 0, 0, 0};
        const PathLink element{PathLinkKind::index, program.graph.text("0"), 0, 0, 0};
        for (const uint32_t scan : {0u, 1u}) {
            for (const AllocationIndex a : retained_by(program)) {
                const PathLink& first = scan == 0 && has_name ? name : cycle;
                tables.referrers.push_back({scan, no_node, Program::memory(a), {first, outputs, element}});
            }
        }
        const Explanation explanation =
            explained(*program.run.make_context(std::make_shared<const GraphTables>(tables)));
        ASSERT_EQ(test::leaks_of(explanation), has_name ? "growing-container" : "garbage-cycles");
        EXPECT_EQ(explanation.findings[0].referrer.find("`trainer.outputs`") != std::string::npos, has_name);
    }
}

/// Returns a run that creates a weight of 2 MiB in each step and copies it to half precision by this op.
Program copying(const std::string& op) {
    Program program;
    const uint32_t cast = program.run.origin(op);
    program.labeled(512, "main", Category::input);
    for (int i = 0; i < 12; ++i) {
        program.run.alloc(2 * MiB, program.run.line("build"));
        program.run.alloc(MiB, program.run.line("train"), cast);
        program.run.step();
    }
    return program;
}

TEST(ExplainAutocast, CountsCopiesByOpsThatItRunsInHalfPrecision) {
    const Explanation explanation = explained(*copying("aten::linear > aten::to > aten::_to_copy").make_context());
    ASSERT_EQ(test::leaks_of(explanation), "autocast-cache");
    EXPECT_EQ(explanation.findings[0].bytes, 36 * MiB) << "the copies and their weights";
}

TEST(ExplainAutocast, IgnoresSizesThatAgreeByChance) {
    Program program = copying("aten::linear > aten::to > aten::_to_copy");
    for (int i = 0; i < 12; ++i) {
        for (int other = 0; other < 20; ++other) {
            program.run.alloc(MiB / 4, program.run.line("forward"));
        }
        program.run.alloc(2 * MiB, program.run.line("build"));
        program.run.alloc(MiB, program.run.line("train"));
        program.run.step();
    }
    EXPECT_EQ(test::leaks_of(explained(*program.make_context())).find("autocast"), std::string::npos);
}

TEST(ExplainAutocast, IgnoresCopiesByTheProgram) {
    const Explanation explanation = explained(*copying("aten::to > aten::_to_copy").make_context());
    EXPECT_EQ(test::leaks_of(explanation), "unexplained-growth unexplained-growth");
}

}  // namespace
}  // namespace tidemark
