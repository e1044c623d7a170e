// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a retention path says about growth: the container that fills, and what is special about it.
#include <gtest/gtest.h>

#include <map>

#include "storage/base/units.h"
#include "storage/text/referrer_words.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;

/// 30 steps that each retain one tensor of 1 MiB, to which these links lead. "#" in a name: the number of the step.
struct GrowthThrough : Program {
    struct Part {
        PathLinkKind kind;
        std::string name, function;
    };

    explicit GrowthThrough(const std::vector<Part>& parts, ScanReason reason = ScanReason::end,
                           std::string function = "forward")
        : reason_(reason), function_(std::move(function)) {
        for (int i = 0; i < 30; ++i) {
            step(parts, i);
        }
    }

    Explanation explanation() {
        graph.tables.scans = {{run.now(), reason_, 10, 100, 20}};
        return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
    }

private:
    void step(const std::vector<Part>& parts, int number) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        const AllocationIndex kept = run.alloc(MiB, run.line(function_));
        std::vector<PathLink> links;
        for (const Part& part : parts) {
            const std::string name = part.name == "#" ? std::to_string(number) : part.name;
            links.push_back({part.kind, graph.text(name), part.function.empty() ? 0 : graph.text(part.function), 0, 0});
        }
        graph.tables.referrers.push_back({0, no_node, memory(kept), links});
        run.free(work);
        run.step();
    }

    ScanReason reason_;
    std::string function_;  ///< allocates what is retained
};

using Kind = PathLinkKind;
using Parts = std::vector<GrowthThrough::Part>;

Finding first_finding(const Parts& parts) { return GrowthThrough(parts).explanation().findings.front(); }

/// "reference variable results of main: 30.0 MiB"
std::vector<std::string> lines_of(const std::vector<RetentionStep>& path) {
    std::vector<std::string> lines;
    for (const RetentionStep& step : path) {
        lines.push_back(std::string(retention_step_word(step.kind)) + ' ' + step.text +
                        (step.bytes ? ": " + format_bytes(*step.bytes) : ""));
    }
    return lines;
}

TEST(ExplainGrowthThrough, NamesEachStepOfThePathWithItsBytes) {
    const Finding finding = first_finding({{Kind::global, "trainer", ""},
                                           {Kind::attribute, "history", ""},
                                           {Kind::index, "#", ""},
                                           {Kind::item, "x", ""}});
    const std::vector<std::string> lines = lines_of(finding.path);
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0], "reference global variable trainer");
    EXPECT_EQ(lines[1], "reference attribute history: 30.0 MiB") << "the container that fills";
    EXPECT_TRUE(lines[2].starts_with("reference element ") && lines[2].ends_with(": 1.00 MiB")) << lines[2];
    EXPECT_EQ(lines[3], "reference item x");
    EXPECT_EQ(lines[4], "allocation GPU memory: 1.00 MiB");
    EXPECT_EQ(finding.path.back().allocation.index, finding.evidence[1].allocation.index);
}

TEST(ExplainGrowthThrough, LeavesOutTheMiddleOfALongPath) {
    Parts parts{{Kind::global, "a", ""}};
    for (int i = 0; i < 20; ++i) {
        parts.push_back({Kind::attribute, "next" + std::to_string(i), ""});
    }
    parts.push_back({Kind::index, "#", ""});
    const std::vector<std::string> lines = lines_of(first_finding(parts).path);
    ASSERT_EQ(lines.size(), 10u);
    EXPECT_EQ(lines[4], "skipped 14 more steps");
    EXPECT_EQ(lines[7], "reference attribute next19: 30.0 MiB");
}

TEST(ExplainGrowthThrough, FillsTheContainerOfTheObjectThatAllocatesIfNoPlaceOnThePathsDiffers) {
    const Parts parts{{Kind::local, "trainer", "main"},
                      {Kind::attribute, "callbacks of Handler", ""},
                      {Kind::index, "2", ""},
                      {Kind::attribute, "results of Recorder", ""},
                      {Kind::index, "4", ""}};
    const auto referrer = [&](const std::string& function) {
        return GrowthThrough(parts, ScanReason::end, function).explanation().findings.front().referrer;
    };
    EXPECT_TRUE(referrer("Recorder.save").starts_with("list `trainer.callbacks[2].results` of class Recorder"))
        << referrer("Recorder.save");
    EXPECT_TRUE(referrer("forward").starts_with("list `trainer.callbacks` of class Handler")) << referrer("forward");
}

TEST(ExplainGrowthThrough, AFrameOfAnExceptionThatRefersToItIsACycle) {
    const Finding finding = first_finding(
        {{Kind::cycle, "frame → frame → Rejected → traceback → frame", ""}, {Kind::local, "hidden", "score"}});
    EXPECT_EQ(finding.kind, FindingKind::exception_retains_frames);
    EXPECT_EQ(finding.title, "30 tensors retained by exceptions in reference cycles");
    EXPECT_NE(finding.text.at(0).find("`Rejected`"), std::string::npos);
    ASSERT_EQ(finding.fixes.size(), 2u);
    EXPECT_TRUE(finding.fixes[0].text.starts_with("Delete the variable that refers to the exception"));
    for (const char* other : {"Node → list → Node", "frame → traceback → frame", "frame → function → frame"}) {
        EXPECT_NE(first_finding({{Kind::cycle, other, ""}, {Kind::local, "hidden", "score"}}).kind,
                  FindingKind::exception_retains_frames)
            << other;
    }
}

TEST(ExplainGrowthThrough, QueuesIsABacklog) {
    for (const auto& [attribute, is_queue] : std::map<std::string, bool>{{"queue of Queue", true},
                                                                         {"_queue of PriorityQueue", true},
                                                                         {"_buffer of Queue", true},
                                                                         {"queue of Server", false},
                                                                         {"history of Queue", false}}) {
        const Finding finding =
            first_finding({{Kind::local, "masks", "main"}, {Kind::attribute, attribute, ""}, {Kind::index, "#", ""}});
        EXPECT_EQ(finding.kind, is_queue ? FindingKind::queue_backlog : FindingKind::growing_container) << attribute;
        EXPECT_EQ(finding.severity, Severity::leak);
    }
    const Finding finding = first_finding({{Kind::local, "masks", "main"}, {Kind::element, "", "SimpleQueue"}});
    EXPECT_EQ(finding.kind, FindingKind::queue_backlog);
}

TEST(ExplainGrowthThrough, ADictWhoseKeysAreTensorsFindsNoEntryAgain) {
    for (const auto& [key, has_tensor] : std::map<std::string, bool>{{"Tensor", true},
                                                                     {"(1024, Tensor)", true},
                                                                     {"('Tensor', 4)", false},
                                                                     {"'Tensor'", false},
                                                                     {"TensorSpec", false}}) {
        const Finding finding = first_finding(
            {{Kind::local, "self", "main"}, {Kind::attribute, "tables of Net", ""}, {Kind::item, key, ""}});
        EXPECT_EQ(finding.kind, FindingKind::growing_container);
        EXPECT_EQ(finding.fixes.front().code == "key = tuple(tensor.flatten().tolist())", has_tensor) << key;
    }
}

TEST(ExplainGrowthThrough, ADequeIsAQueueIfItIsConsumed) {
    for (const bool is_consumed : {true, false}) {
        Program program;
        std::vector<AllocationIndex> waiting;
        for (int i = 0; i < 60; ++i) {
            waiting.push_back(program.run.alloc(MiB, program.run.line("produce")));
            if (is_consumed && i % 3 == 2) {
                program.run.free(waiting.front());
                waiting.erase(waiting.begin());
            }
            program.run.step();
        }
        int element = 0;
        for (const AllocationIndex a : waiting) {
            program.graph.tables.referrers.push_back(
                {0,
                 no_node,
                 Program::memory(a),
                 {{Kind::global, program.graph.text("waiting"), 0, 0, 0},
                  {Kind::index, program.graph.text(std::to_string(element++)), program.graph.text("deque"), 0, 0}}});
        }
        EXPECT_EQ(test::leaks_of(explained(*program.make_context())),
                  is_consumed ? "queue-backlog" : "growing-container");
    }
}

TEST(ExplainGrowthThrough, SuspendedCallsNamesTheirFunction) {
    const Finding finding = first_finding({{Kind::local, "self", "Server.step"},
                                           {Kind::attribute, "_waiters of Event", ""},
                                           {Kind::index, "#", ""},
                                           {Kind::attribute, "part of Future", ""},
                                           {Kind::local, "job", "Server.wait"},
                                           {Kind::attribute, "memory of Job", ""}});
    EXPECT_EQ(finding.kind, FindingKind::generator_retains);
    EXPECT_EQ(
        finding.title,
        "30 tensors retained by suspended calls of `Server.wait`: list `self._waiters` of class Event (variable of "
        "Server.step), elements 0 to 29");
}

TEST(ExplainGrowthThrough, AllVariablesOfSuspendedCallsAreOneSuspect) {
    Program program;
    for (int i = 0; i < 30; ++i) {
        for (const char* name : {"cache", "prompt"}) {
            const AllocationIndex a = program.run.alloc(MiB, program.run.line(name));
            program.graph.tables.referrers.push_back(
                {0,
                 no_node,
                 Program::memory(a),
                 {{Kind::global, program.graph.text("streams"), 0, 0, 0},
                  {Kind::index, program.graph.text(std::to_string(i)), 0, 0, 0},
                  {Kind::local, program.graph.text(name), program.graph.text("tokens"), 0, 0}}});
        }
        program.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "generator-retains");
    EXPECT_EQ(explanation.findings[0].bytes, 60 * MiB);
}

TEST(ExplainGrowthThrough, OneOfSeveralContainersIsNotNamedAlone) {
    Program program;
    for (int turn = 0; turn < 30; ++turn) {
        for (const char* user : {"'anna'", "'bela'", "'chen'"}) {
            const AllocationIndex a = program.run.alloc(MiB, program.run.line("handle"));
            program.graph.tables.referrers.push_back(
                {0,
                 no_node,
                 Program::memory(a),
                 {{Kind::global, program.graph.text("sessions"), 0, 0, 0},
                  {Kind::item, program.graph.text(user), 0, 0, 0},
                  {Kind::index, program.graph.text(std::to_string(turn)), 0, 0, 0}}});
        }
        program.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    EXPECT_EQ(explanation.findings.at(0).referrer, "list `sessions[...]` (global variable), elements 0 to 29");
    EXPECT_EQ(explanation.findings.at(0).bytes, 90 * MiB);
}

/// Hooks of one module have no names of their own, so all paths are equal.
TEST(ExplainGrowthThrough, HooksNamesWhatTheyFill) {
    const Finding finding = first_finding({{Kind::local, "trainer", "main"},
                                           {Kind::attribute, "callbacks of Trainer", ""},
                                           {Kind::index, "1", ""},
                                           {Kind::attribute, "encoder of Net", ""},
                                           {Kind::hook, "forward hook of Sequential", ""},
                                           {Kind::attribute, "maps of Tap", ""},
                                           {Kind::index, "0", ""}});
    EXPECT_EQ(finding.kind, FindingKind::hook_retains_activations);
    EXPECT_NE(finding.referrer.find("maps"), std::string::npos) << finding.referrer;
    EXPECT_NE(finding.text[0].find("A hook stores the output"), std::string::npos) << finding.text[0];
    EXPECT_NE(finding.fixes[0].code.find("handle.remove()"), std::string::npos);
}

/// No place on the path differs, so the hooks themselves become more.
TEST(ExplainGrowthThrough, HooksOfOneTensorBecomeMore) {
    const auto with_hook = [](const std::string& hook) {
        return first_finding({{Kind::local, "optimizers", "run"},
                              {Kind::index, "0", ""},
                              {Kind::attribute, "param_groups of SGD", ""},
                              {Kind::index, "0", ""},
                              {Kind::hook, hook, ""},
                              {Kind::closure, "correction", "soften"}});
    };
    const Finding finding = with_hook("gradient hook of Parameter");
    EXPECT_EQ(finding.kind, FindingKind::hook_retains_activations);
    EXPECT_EQ(finding.confidence, Confidence::certain);
    EXPECT_EQ(
        finding.title,
        "30 tensors retained by hooks that are never removed: `correction` (closure of soften) in a gradient hook "
        "of Parameter reached through `optimizers[0].param_groups[0]` (variable of run)");
    EXPECT_EQ(finding.fixes.at(0).code, "handle = tensor.register_hook(hook)\n...\nhandle.remove()");
    EXPECT_EQ(with_hook("forward pre hook of Linear").fixes.at(0).code,
              "handle = module.register_forward_pre_hook(hook)\n...\nhandle.remove()");
}

/// The recorder's own text is "x of Swish".
TEST(ExplainGrowthThrough, AttributesOfCtxAreNamedAsTheProgramNamesThem) {
    const Finding finding = first_finding({{Kind::ctx, "x of Swish", ""}});
    EXPECT_EQ(finding.kind, FindingKind::ctx_retains_tensors);
    EXPECT_EQ(finding.title, "30 tensors retained by `ctx.x` of custom Function `Swish`");
    ASSERT_FALSE(finding.path.empty());
    EXPECT_EQ(finding.path.front().text, "attribute x of the ctx of custom Function Swish");
}

TEST(ExplainGrowthThrough, AListOfTensorsWithOneHookEachIsAContainer) {
    const Finding finding = first_finding({{Kind::local, "maps", "run"},
                                           {Kind::index, "#", ""},
                                           {Kind::hook, "gradient hook of Tensor", ""},
                                           {Kind::closure, "correction", "soften"}});
    EXPECT_EQ(finding.kind, FindingKind::growing_container);
}

/// An object of a library retains what the program gives it: the path shows the class, stacks the library.
TEST(ExplainGrowthThrough, AnObjectOfALibraryHasTheAdviceOfTheLibrary) {
    for (const auto& [file, is_library] :
         std::map<std::string, bool>{{"/usr/lib/python3.12/site-packages/torchmetrics/collections.py", true},
                                     {"/home/anna/project/torchmetrics/collections.py", false}}) {
        GrowthThrough program({{Kind::local, "scores", "train"},
                               {Kind::attribute, "ap of MetricCollection", ""},
                               {Kind::attribute, "preds of Precision", ""},
                               {Kind::index, "#", ""}});
        program.run.free(program.run.alloc(512, program.run.line("MetricCollection.update", file)));
        const Finding finding = program.explanation().findings.front();
        EXPECT_EQ(finding.kind, FindingKind::growing_container);
        EXPECT_EQ(finding.fixes.front().code.find("scores.reset()") == 0, is_library) << finding.fixes.front().code;
    }
}

TEST(ExplainGrowthThrough, AContainerOfOneSuspendedCallIsAContainer) {
    const Finding finding = first_finding({{Kind::local, "loop", "run"},
                                           {Kind::attribute, "_ready of EventLoop", ""},
                                           {Kind::index, "0", ""},
                                           {Kind::local, "outputs", "serve"},
                                           {Kind::index, "#", ""}});
    EXPECT_EQ(finding.kind, FindingKind::growing_container);
    EXPECT_EQ(
        finding.referrer,
        "list `outputs` (variable of serve) in a suspended call reached through list `loop._ready` of class EventLoop "
        "(variable of run), elements 0 to 29");
    ASSERT_FALSE(finding.fixes.empty());
    EXPECT_EQ(finding.fixes[0].code, "outputs.append(tensor.detach().cpu())");
}

TEST(ExplainGrowthThrough, RegisteredFunctionsAreCallbacks) {
    const Finding at_exit =
        first_finding({{Kind::callback, "atexit", "draw"}, {Kind::attribute, "argument 1 of partial(draw)", ""}});
    EXPECT_EQ(at_exit.kind, FindingKind::callback_retains);
    EXPECT_EQ(at_exit.fixes.back().code, "atexit.unregister(function)");
    EXPECT_EQ(at_exit.fixes.front().code.find("value = tensor.detach().cpu()"), 0u)
        << "item() raises for more than one element: " << at_exit.fixes.front().code;
    EXPECT_EQ(first_finding({{Kind::callback, "atexit", "close"},
                             {Kind::attribute, "self of Board.close", ""},
                             {Kind::attribute, "images of Board", ""},
                             {Kind::index, "#", ""}})
                  .kind,
              FindingKind::growing_container)
        << "not the functions become more";
    EXPECT_EQ(at_exit.referrer, "`partial(draw).args[1]` in callbacks of `atexit` (registered function draw)");
    for (const auto& [kind, name] : std::map<Kind, std::string>{
             {Kind::closure, "batch"}, {Kind::attribute, "self of Sink.add"}, {Kind::item, "'batch'"}}) {
        const Finding finding =
            first_finding({{Kind::global, "listeners", ""}, {Kind::index, "#", ""}, {kind, name, ""}});
        EXPECT_EQ(finding.kind, kind == Kind::item ? FindingKind::growing_container : FindingKind::callback_retains);
        EXPECT_EQ(finding.referrer, "list `listeners` (global variable), elements 0 to 29");
    }
}

/// Returns a run that makes `count` tensors of 2 MiB before its steps; one element of each is retained.
Program bank_of_views(int count, int64_t view_bytes) {
    Program program;
    for (int i = 0; i < count; ++i) {
        const AllocationIndex a = program.run.alloc(2 * MiB, program.run.line("encode"));
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(a),
             {{Kind::global, program.graph.text("bank"), 0, 0, 0},
              {Kind::index, program.graph.text(std::to_string(i)), 0, 0, 0},
              {Kind::view, program.graph.text(std::to_string(view_bytes) + " of 2097152"), 0, 0, 0}}});
    }
    for (int i = 0; i < 20; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        program.run.step();
    }
    return program;
}

TEST(ExplainSmallViews, AreWasteIfTheyNoLongerBecomeMore) {
    const Findings findings = bank_of_views(24, 4096).diagnose(diagnoses::view_retains_storage);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 48 * MiB - int64_t{24} * 4096) << "without the views' own bytes";
    EXPECT_EQ(findings[0].fixes.at(0).bytes, findings[0].bytes);
    EXPECT_EQ(findings[0].title, "24 views of 96.0 KiB in total retain 48.0 MiB");
    EXPECT_NE(findings[0].referrer.find("`bank`"), std::string::npos) << findings[0].referrer;
}

TEST(ExplainSmallViews, OfOneArenaOrOfMostOfTheirStorageAreNoWaste) {
    EXPECT_TRUE(bank_of_views(2, 4096).diagnose(diagnoses::view_retains_storage).empty());
    EXPECT_TRUE(bank_of_views(24, 1 << 20).diagnose(diagnoses::view_retains_storage).empty());
}

/// Returns the findings about 16 views in a queue that a heap scan found, if `later` entries have replaced them since,
/// allocated by the function `line`.
Findings queue_of_views(int later, const std::string& line) {
    Program program = bank_of_views(16, 4096);
    program.graph.tables.scans = {{program.run.now(), ScanReason::memory_grows, 10, 100, 20}};
    for (int i = 0; i < 20; ++i) {
        const AllocationIndex entry = program.run.alloc(2 * MiB, program.run.line(line));
        if (i < 16) {
            program.run.free(static_cast<AllocationIndex>(i));
        }
        if (i >= later) {
            program.run.free(entry);
        }
        program.run.step();
    }
    const auto context = program.run.make_context(std::make_shared<const GraphTables>(program.graph.tables));
    return test::diagnose(diagnoses::view_retains_storage, *context);
}

TEST(ExplainSmallViews, AreWasteInAQueueThatHasReplacedThemSinceTheScan) {
    const Findings findings = queue_of_views(16, "encode");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].title, "16 views of 64.0 KiB in total retain 32.0 MiB");
    EXPECT_EQ(findings[0].confidence, Confidence::likely);
    EXPECT_NE(findings[0].basis.find("replaced"), std::string::npos);
}

TEST(ExplainSmallViews, OfAQueueThatWasNotFilledAgainAreNoWaste) {
    EXPECT_TRUE(queue_of_views(4, "encode").empty());
    EXPECT_TRUE(queue_of_views(16, "evaluate").empty());
}

TEST(ExplainGrowthThrough, SmallViewsNamesBothSizes) {
    for (const int view_bytes : {4096, 1 << 19}) {
        const Finding finding = first_finding({{Kind::global, "first", ""},
                                               {Kind::index, "#", ""},
                                               {Kind::view, std::to_string(view_bytes) + " of 1048576", ""}});
        const bool is_small = view_bytes == 4096;
        ASSERT_EQ(finding.kind, is_small ? FindingKind::view_retains_storage : FindingKind::growing_container);
        if (is_small) {
            EXPECT_EQ(
                finding.title,
                "30 views of 4.00 KiB retain storages of 1.00 MiB; list `first` (global variable), elements 0 to 29 "
                "retains the views");
            EXPECT_EQ(finding.fixes[0].code, "first.append(tensor[0].clone())");
            EXPECT_EQ(finding.confidence, Confidence::certain);
            EXPECT_TRUE(std::any_of(finding.path.begin(), finding.path.end(),
                                    [](const auto& step) { return step.text == "a view of 4.00 KiB of 1.00 MiB"; }));
        }
    }
    const Parts parts{{Kind::global, "first", ""}, {Kind::index, "#", ""}, {Kind::view, "4096 of 1048576", ""}};
    EXPECT_EQ(GrowthThrough(parts, ScanReason::growing_sites).explanation().findings.front().confidence,
              Confidence::likely);
}

TEST(ExplainGrowthThrough, TheContainerThatFillsIsNamed) {
    const Finding inner = first_finding({{Kind::global, "log", ""},
                                         {Kind::attribute, "handlers of Logger", ""},
                                         {Kind::index, "1", ""},
                                         {Kind::attribute, "buffer of MemoryHandler", ""},
                                         {Kind::index, "#", ""},
                                         {Kind::attribute, "args of LogRecord", ""},
                                         {Kind::index, "0", ""}});
    EXPECT_EQ(inner.kind, FindingKind::growing_container);
    EXPECT_EQ(inner.referrer,
              "list `log.handlers[1].buffer` of class MemoryHandler (global variable), elements 0 to 29");
    const Finding outer = first_finding({{Kind::global, "server", ""},
                                         {Kind::attribute, "conversations of Server", ""},
                                         {Kind::item, "#", ""},
                                         {Kind::attribute, "layers of Cache", ""},
                                         {Kind::index, "0", ""}});
    EXPECT_EQ(outer.referrer, "dict `server.conversations` of class Server (global variable)");
}

TEST(ExplainGrowthThrough, StoredExceptionsAreReadAloud) {
    GraphTables tables;
    const auto text = [&](const char* name) {
        tables.texts.emplace_back(name);
        return static_cast<uint32_t>(tables.texts.size() - 1);
    };
    Referrer referrer;
    referrer.links = {{Kind::local, text("failed"), text("main"), 0, 0},
                      {Kind::index, text("3"), 0, 0, 0},
                      {Kind::exception, 0, text("forward"), 0, 0},
                      {Kind::local, text("x"), text("forward"), 0, 0}};
    EXPECT_EQ(path_words(tables, Words(Language::english), group_of(tables, referrer)),
              "`x` (variable of forward) in a frame of the exception stored in list `failed` (variable of main)");
    referrer.links.erase(referrer.links.begin() + 1);
    EXPECT_EQ(path_words(tables, Words(Language::english), referrer),
              "`x` (variable of forward) in a frame of the exception stored in `failed` (variable of main)");
}

/// 30 steps whose graphs hang on one tensor, which each step replaces: an update of the one before. A heap scan finds
/// its variable in this step.
struct CarriedState : Program {
    explicit CarriedState(PathLinkKind scanned, int step) {
        NodeIndex before = no_node;
        AllocationIndex state = no_allocation;
        for (int i = 0; i < 30; ++i) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
            const AllocationIndex saved = run.alloc(MiB, run.line("forward"));
            const NodeIndex forward = node("MmBackward0", {}, {saved}, saved, "forward");
            const AllocationIndex next = run.alloc(512, run.line("update"));
            const std::vector<NodeIndex> children =
                before == no_node ? std::vector{forward} : std::vector{forward, before};
            before = node("AddBackward0", children, {}, next, "update");
            if (state != no_allocation) {
                run.free(state);
            }
            state = next;
            run.free(work);
            if (i == step) {
                graph.tables.scans = {{run.now(), ScanReason::growing_sites, 10, 100, 20}};
                graph.tables.referrers.push_back(
                    {0,
                     before,
                     memory(next),
                     {{scanned, graph.text("dynamics"), 0, graph.text("train.py"), 3},
                      {PathLinkKind::attribute, graph.text("velocity of Dynamics"), 0, 0, 0}}});
            }
            if (i == 25) {
                graph.tables.scans.push_back({run.now(), ScanReason::growing_sites, 10, 100, 20});  // finds nothing
            }
            run.step();
        }
    }

    Finding first_finding() {
        return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables))).findings.front();
    }
};

TEST(ExplainGrowthThrough, AVariableOfAnEarlierRootRetainsTheGraph) {
    for (const int step : {4, 20}) {
        const Finding leak = CarriedState(PathLinkKind::global, step).first_finding();
        EXPECT_EQ(leak.severity, Severity::leak);
        EXPECT_NE(leak.referrer.find("dynamics.velocity"), std::string::npos) << leak.title;
        EXPECT_EQ(CarriedState(PathLinkKind::native, step).first_finding().referrer, "");
    }
}

TEST(ExplainGrowthThrough, ASumOfTensorsGetsNoItem) {
    const Finding leak = CarriedState(PathLinkKind::global, 20).first_finding();
    ASSERT_EQ(leak.kind, FindingKind::loss_accumulated_with_graph);
    ASSERT_EQ(leak.fixes.size(), 1u) << "the sum has 512 bytes";
    EXPECT_EQ(leak.fixes[0].code, "dynamics.velocity += loss.detach()");
}

/// Steps that each leave a graph whose root a hook on a cycle through C++ retains, as heap scan number `scan` found.
Program hooked_graphs(uint32_t scan) {
    Program program;
    for (int i = 0; i < 30; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        const AllocationIndex saved = program.run.alloc(MiB, program.run.line("forward"));
        const AllocationIndex result = program.run.alloc(512, program.run.line("forward"));
        const NodeIndex root = program.node("TanhBackward0", {}, {saved}, result, "forward");
        const uint32_t function = program.graph.text("layer.<locals>.implicit");
        program.graph.tables.referrers.push_back(
            {scan,
             root,
             Program::memory(result),
             {{PathLinkKind::native, program.graph.text("Tensor"), 0, 0, 0},
              {PathLinkKind::hook, program.graph.text("gradient hook"), function, program.graph.text("train.py"), 7}}});
        program.run.free(work);
        program.run.step();
    }
    return program;
}

TEST(ExplainGrowthThrough, AHookOnACycleThroughTheGraphIsNamed) {
    Program program = hooked_graphs(0);
    const Finding leak = explained(*program.make_context()).findings.front();
    EXPECT_EQ(leak.kind, FindingKind::hook_reference_cycle);
    EXPECT_EQ(
        leak.title,
        "The hook layer.<locals>.implicit, train.py:7 forms a reference cycle with the graph it is registered on");
    EXPECT_EQ(leak.confidence, Confidence::certain);
}

TEST(ExplainGrowthThrough, TheScanAtTheEndIsUsedIfItFoundHooks) {
    Program program = hooked_graphs(1);
    const uint32_t name = program.graph.text("batch");
    GraphTables tables = program.graph.tables;
    const int64_t end = program.run.now();
    tables.scans = {{end / 2, ScanReason::growing_sites, 10, 100, 20}, {end + 1, ScanReason::end, 10, 100, 20}};
    tables.referrers.insert(tables.referrers.begin(),
                            {0, no_node, Program::memory(0), {{PathLinkKind::local, name, 0, 0, 0}}});
    const Explanation explanation = explained(*program.run.make_context(std::make_shared<const GraphTables>(tables)));
    EXPECT_EQ(explanation.findings.front().kind, FindingKind::hook_reference_cycle);
}

}  // namespace
}  // namespace tidemark
