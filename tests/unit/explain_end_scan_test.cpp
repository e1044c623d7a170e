// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The heap scan at a program's end comes when its functions have returned: what it reaches from reference cycles only
// is known by the variables that earlier scans found.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;
using Kind = PathLinkKind;

constexpr size_t steps = 30, steps_until_scan = 12;

/// A metric, which refers to itself, gets a tensor in each step. One scan finds the tensors of the first steps by this
/// link, the one at the end all of them in the cycle.
struct Metric : Program {
    explicit Metric(Kind first) {
        std::vector<AllocationIndex> states;
        int64_t scanned = 0;
        for (size_t i = 0; i < steps; ++i) {
            run.free(run.alloc(4 * MiB, run.line("train")));
            states.push_back(run.alloc(MiB, run.line("update")));
            run.step();
            scanned = i + 1 == steps_until_scan ? run.now() : scanned;
        }
        graph.tables.scans = {{scanned, ScanReason::growing_sites, 0, 100, 20},
                              {run.now(), ScanReason::end, 0, 100, 20}};
        for (uint32_t scan = 0; scan < 2; ++scan) {
            const PathLink link = scan == 0
                                      ? PathLink{first, graph.text("metric"), graph.text("main"), graph.text("a.py"), 3}
                                      : PathLink{Kind::cycle, graph.text("AUROC → method → AUROC"), 0, 0, 0};
            for (size_t i = 0; i < (scan == 0 ? steps_until_scan : steps); ++i) {
                graph.tables.referrers.push_back({scan,
                                                  no_node,
                                                  memory(states[i]),
                                                  {link,
                                                   {Kind::attribute, graph.text("preds of AUROC"), 0, 0, 0},
                                                   {Kind::index, graph.text(std::to_string(i)), 0, 0, 0}}});
            }
        }
    }

    std::string referrer() {
        const auto context = run.make_context(std::make_shared<const GraphTables>(graph.tables));
        return test::explained(*context).findings.front().referrer;
    }
};

TEST(ExplainEndScan, CyclesAreKnownByEarlierVariables) {
    EXPECT_EQ(Metric(Kind::local).referrer(), "list `metric.preds` of class AUROC (variable of main, a.py:3)")
        << "without a range: that scan found a part of the elements";
}

/// A metric that copies its tensors in each step: a scan finds only the newest one, which another line made.
TEST(ExplainEndScan, CyclesAreKnownByTheOnlyVariableThatLedIntoSuchAnAttribute) {
    Metric program(Kind::local);
    std::vector<Referrer>& referrers = program.graph.tables.referrers;
    referrers.erase(referrers.begin() + 1, referrers.begin() + steps_until_scan);
    referrers.front().allocation = Program::memory(program.run.alloc(MiB, program.run.line("to")));
    EXPECT_EQ(program.referrer(), "list `metric.preds` of class AUROC (variable of main, a.py:3)");
    referrers.insert(referrers.begin(), referrers.front());
    referrers.front().links.front().name = program.graph.text("validation");
    EXPECT_NE(program.referrer().find("reference cycle"), std::string::npos) << "two metrics of one class";
}

/// Two metrics of one class: the line of the first one also fills another attribute of it.
TEST(ExplainEndScan, CyclesAreKnownByTheObjectWithOtherMemoryOfTheLine) {
    Metric program(Kind::local);
    std::vector<Referrer>& referrers = program.graph.tables.referrers;
    referrers.erase(referrers.begin() + 2, referrers.begin() + steps_until_scan);
    referrers[1].links[1].name = program.graph.text("target of AUROC");
    referrers[0].allocation = Program::memory(program.run.alloc(MiB, program.run.line("to")));
    referrers.insert(referrers.begin(), referrers.front());
    referrers.front().links.front().name = program.graph.text("validation");
    EXPECT_EQ(program.referrer(), "list `metric.preds` of class AUROC (variable of main, a.py:3)");
}

TEST(ExplainEndScan, CyclesThatEarlierScansFoundStayCycles) {
    EXPECT_NE(Metric(Kind::cycle).referrer().find("reference cycle"), std::string::npos);
}

/// A server keeps started generators in a dict, each with a cache. At the end, the path starts in a cycle, into the
/// dict itself, and the memory that the earlier scan found is freed. `slot`: which part of each cache the end scan
/// names.
std::string referrer_of_streams(const char* slot) {
    Program program;
    GraphTables& tables = program.graph.tables;
    auto& run = program.run;
    std::vector<AllocationIndex> caches;
    for (size_t i = 0; i < steps; ++i) {
        run.free(run.alloc(4 * MiB, run.line("serve")));
        caches.push_back(run.alloc(MiB, run.line("generate")));
        run.step();
    }
    tables.scans = {{run.now() - 2, ScanReason::growing_sites, 0, 100, 20}, {run.now(), ScanReason::end, 0, 100, 20}};
    const auto link = [&](Kind kind, const std::string& name, const std::string& function = "") {
        const uint32_t file = function.empty() ? 0 : program.graph.text("a.py");
        return PathLink{kind, program.graph.text(name), program.graph.text(function), file, function.empty() ? 0 : 3};
    };
    const auto add = [&](uint32_t scan, AllocationIndex a, std::vector<PathLink> links) {
        tables.referrers.push_back({scan, no_node, Program::memory(a), std::move(links)});
    };
    const AllocationIndex freed = caches.front();
    add(0, freed,
        {link(Kind::local, "server", "main"), link(Kind::attribute, "streams of Server"), link(Kind::item, "'a'"),
         link(Kind::local, "past", "generate"), link(Kind::attribute, "keys of Cache")});
    run.free(freed);
    for (size_t i = 1; i < steps; ++i) {
        add(1, caches[i],
            {link(Kind::cycle, "generator → Server → generator"), link(Kind::item, fmt::format("'{}'", i)),
             link(Kind::local, "past", "generate"), link(Kind::attribute, slot)});
    }
    const auto context = run.make_context(std::make_shared<const GraphTables>(tables));
    return test::explained(*context).findings.front().referrer;
}

TEST(ExplainEndScan, CyclesAreKnownByEarlierPathsAlongTheSameObjects) {
    const std::string named = "dict `server.streams` of class Server (variable of main, a.py:3)";
    EXPECT_EQ(referrer_of_streams("keys of Cache"), named);
    EXPECT_NE(referrer_of_streams("values of Cache").find("cycle"), std::string::npos) << "another object";
}

/// A short program without iterations that is done with its results, `results[0]` and so on, before the end. `in_list`:
/// how many of them a scan finds there; each of the others is a variable's value for a moment.
std::string answer_after_results(size_t in_list) {
    Program program;
    std::vector<AllocationIndex> results;
    for (size_t i = 0; i < 4; ++i) {
        results.push_back(program.run.alloc(8 * MiB, program.run.line("predict")));
    }
    program.run.alloc(4 * MiB, program.run.line("weights"));
    program.graph.tables.scans = {{program.run.now(), ScanReason::growing_sites, 0, 100, 20}};
    for (size_t i = 0; i < in_list; ++i) {
        program.add_referrer(results[i], "results", std::to_string(i));
    }
    if (in_list == 0) {
        program.add_referrer(results.back(), "out");
    }
    for (const AllocationIndex a : results) {
        program.run.free(a);
    }
    const auto context = program.run.make_context(std::make_shared<const GraphTables>(program.graph.tables));
    return test::joined(test::explained(*context).answer);
}

TEST(ExplainEndScan, AShortProgramSaysWhatRetainedItsPeak) {
    EXPECT_NE(answer_after_results(3).find("predict, more than from any other line. Memory of this line was retained "
                                           "by list `results` (global variable, train.py:3)."),
              std::string::npos)
        << answer_after_results(3);
    EXPECT_EQ(answer_after_results(0).find("was retained"), std::string::npos)
        << "a variable of the newest result explains nothing";
}

TEST(ExplainEndScan, TheEndOfTheRunIsLaterThanTheLastEvent) {
    Program program;
    program.run.alloc(8 * MiB, program.run.line("predict"));
    program.run.trace.duration = program.run.now() + 20'000'000'000;
    const auto context = program.run.make_context();
    const Explanation explanation = test::explained(*context);
    EXPECT_EQ(explanation.time_point, "the end of the run");
    EXPECT_EQ(explanation.time, context->trace().duration);
    EXPECT_GT(explanation.time, context->now_time());
}

TEST(ExplainEndScan, TheEndOfTheWorkIsBeforeTheProgramFreesItsMemory) {
    Program program;
    const AllocationIndex model = program.run.alloc(8 * MiB, program.run.line("build"));
    program.run.free(program.run.alloc(MiB, program.run.line("predict")));
    program.run.free(model);
    program.run.trace.duration = program.run.now() + 20'000'000'000;
    const auto context = program.run.make_context();
    const Explanation explanation = test::explained(*context);
    EXPECT_EQ(explanation.time_point, "the end of the work");
    EXPECT_EQ(explanation.time, context->now_time()) << "later there is other memory";
}

/// Each step, one line makes a result of two parts in functions of a library, and a list keeps it. `rest`: bytes of the
/// second part, of which no scan finds the referrer; of the first part, scans find it for four.
Findings results_of_two_parts(const std::function<int64_t(int)>& rest) {
    Program program;
    const auto called_in = [&](const std::string& function) {
        return test::stack_of(program.run.trace.stacks,
                              {{"/venv/lib/python3.12/site-packages/transformers/generation.py", function},
                               {"/home/anna/project/train.py", "reply"}});
    };
    const StackId states = called_in("states"), cache = called_in("cache");
    std::vector<AllocationIndex> known;
    for (int i = 0; i < 40; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("work")));
        known.push_back(program.run.alloc(MiB, states));
        program.run.alloc(static_cast<uint64_t>(rest(i)), cache);
        program.run.step();
    }
    program.graph.tables.scans = {{program.run.now(), ScanReason::growing_sites, 0, 100, 20}};
    for (size_t i = 0; i < 4; ++i) {
        program.add_referrer(known[4 * i], "turns", std::to_string(4 * i));
    }
    const auto context = program.run.make_context(std::make_shared<const GraphTables>(program.graph.tables));
    return test::explained(*context).findings;
}

TEST(ExplainEndScan, PartsOfOneResultAreInItsContainer) {
    const Findings findings = results_of_two_parts([](int) { return 3 * MiB; });
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].referrer, "list `turns` (global variable, train.py:3)");
    EXPECT_EQ(findings[0].bytes, 160 * MiB);
    EXPECT_EQ(findings[0].count, 80);
    EXPECT_EQ(findings[0].confidence, Confidence::likely) << "scans found few of them";
    EXPECT_FALSE(findings[0].unknowns.empty());
}

TEST(ExplainEndScan, MemoryOfTheSameLineThatRisesOtherwiseIsNotInTheContainer) {
    const Findings findings = results_of_two_parts([](int step) { return (step < 20 ? 1 : 9) * MiB; });
    const auto of_list = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.referrer == "list `turns` (global variable, train.py:3)";
    });
    ASSERT_NE(of_list, findings.end());
    EXPECT_EQ(of_list->bytes, 40 * MiB);
}

}  // namespace
}  // namespace tidemark
