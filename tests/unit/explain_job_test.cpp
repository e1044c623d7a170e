// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the ranks of a job share, and who differs: rules over summaries.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "storage/job/clocks.h"
#include "storage/job/compare_jobs.h"
#include "storage/job/explain_job.h"
#include "storage/report/job_report.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t MiB = 1 << 20, second = 1'000'000'000;

SiteMemory site(const std::string& line, int64_t at_peak, int64_t at_end, Category category = Category::unknown) {
    SiteMemory memory;
    memory.line = line;
    memory.category = category;
    memory.at_peak = at_peak;
    memory.at_end = at_end;
    memory.allocated = 10;
    memory.median_lifetime = second;
    return memory;
}

FindingSummary leak(const std::string& line, const std::string& referrer, int64_t each) {
    FindingSummary finding;
    finding.kind = FindingKind::growing_container;
    finding.severity = Severity::leak;
    finding.is_gpu_leak = true;
    finding.bytes = 10 * each;
    finding.per_iteration = each;
    finding.line = line;
    finding.texts[0] = {
        "tensors accumulate in `board`", "The list retains them.", referrer, {"Move them to the CPU.", "x.cpu()", {}}};
    return finding;
}

/// A job of ranks that all have the same 100 MiB of parameters and 50 MiB of activations.
struct Ranks {
    explicit Ranks(int64_t count) {
        for (int64_t rank = 0; rank < count; ++rank) {
            JobMember member;
            member.path = "run.tidejob/rank" + std::to_string(rank) + ".tide";
            member.has_rank = true;
            member.summary = ProcessSummary();
            member.summary->place = {rank, rank, count, "node", ""};
            member.summary->steps = 20;
            member.summary->duration = 10 * second;
            DeviceSummary device;
            device.device = static_cast<int>(rank);
            device.total_bytes = 1000 * MiB;
            device.allocated = device.reserved = std::vector<int64_t>(DeviceSummary::columns, 100 * MiB);
            device.used = std::vector<int64_t>(DeviceSummary::columns, 300 * MiB);
            device.sites = {site("model.py:3 build", 100 * MiB, 100 * MiB, Category::parameter),
                            site("model.py:9 forward", 50 * MiB, 0)};
            device.peak_allocated = 150 * MiB;
            device.parameters = 100 * MiB;
            device.allocated_at_end = 100 * MiB;
            member.summary->devices.push_back(std::move(device));
            job.members.push_back(std::move(member));
        }
    }

    DeviceSummary& operator[](size_t rank) { return job.members[rank].summary->devices.front(); }
    /// Lets a rank retain this much more from a line, at its peak too.
    void retain(size_t rank, const std::string& line, int64_t bytes) {
        (*this)[rank].sites.push_back(site(line, bytes, bytes));
        (*this)[rank].peak_allocated += bytes;
        (*this)[rank].allocated_at_end += bytes;
    }
    JobExplanation explained() const { return explain_job(job, Words(Language::english)); }

    Job job;
};

TEST(JobExplanation, RanksThatDoTheSameHaveNoFinding) {
    const JobExplanation explanation = Ranks(8).explained();
    EXPECT_TRUE(explanation.findings.empty());
    EXPECT_THAT(explanation.summary.back(), HasSubstr("alike"));
    EXPECT_THAT(explanation.summary.front(), HasSubstr("8 ranks on 1 node, 20 steps"));
}

TEST(JobExplanation, TheRankThatGrowsIsNamedWithItsLineAndVariable) {
    Ranks ranks(8);
    ranks.retain(3, "board.py:60 add", 80 * MiB);
    ranks[3].findings.push_back(leak("board.py:60 add", "attribute `predicted` of `board`", 8 * MiB));
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size()) << "growth, more memory and a higher peak are one finding";
    const JobFinding& finding = explanation.findings.front();
    EXPECT_EQ(JobFindingKind::rank_growth, finding.kind);
    EXPECT_EQ(Severity::leak, finding.severity);
    EXPECT_THAT(finding.members, ElementsAre(3));
    EXPECT_EQ("rank 3 retains 80.0 MiB more than most other ranks: attribute `predicted` of `board`", finding.title);
    EXPECT_EQ("board.py:60 add", finding.line);
    EXPECT_EQ(8 * MiB, finding.per_iteration);
    EXPECT_EQ("Move them to the CPU.", finding.fix.text);
}

TEST(JobExplanation, OfTwoRanksTheOneWithLessIsUsual) {
    Ranks ranks(2);
    ranks.retain(0, "board.py:60 add", 80 * MiB);
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ("rank 0 retains 80.0 MiB more than rank 1: board.py:60 add", explanation.findings.front().title);
    EXPECT_EQ(JobFindingKind::rank_imbalance, explanation.findings.front().kind);
    ranks[0].findings.push_back(leak("board.py:60 add", "`ckpt`", 1));
    ranks[0].findings.front().severity = Severity::waste;
    ranks[0].findings.front().is_gpu_leak = false;
    ranks[0].findings.front().kind = FindingKind::checkpoint_on_gpu;
    const JobExplanation with_waste = ranks.explained();
    ASSERT_EQ(1u, with_waste.findings.size()) << "what its trace says of the line is in the same finding";
    EXPECT_EQ(JobFindingKind::rank_imbalance, with_waste.findings.front().kind);
    EXPECT_EQ("Move them to the CPU.", with_waste.findings.front().fix.text);
}

TEST(JobExplanation, ALineThatGrowsIsOneFindingAlsoWhereNoScanFoundItsReferrer) {
    Ranks ranks(2);
    ranks[0].findings.push_back(leak("train.py:5 main", "", 1 * MiB));
    ranks[0].findings.front().kind = FindingKind::unexplained_growth;
    ranks[1].findings.push_back(leak("train.py:5 main", "`outputs`", 1 * MiB));
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    const JobFinding& finding = explanation.findings.front();
    EXPECT_EQ(JobFindingKind::shared, finding.kind);
    EXPECT_EQ("`outputs`", finding.referrer);
    EXPECT_THAT(finding.members, ElementsAre(1, 0)) << "the first one is to be looked at";
}

TEST(JobExplanation, LargerBatchesAreNoWasteAndTheFactorIsSaid) {
    Ranks ranks(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        SiteMemory logits = site("train.py:9 forward", 40 * MiB, 10 * MiB);
        logits.allocated = 20;
        logits.median_lifetime = second / 4;
        ranks[rank].sites = {logits};
        ranks.job.members[rank].summary->step_ends = {{0, second}, {19, 10 * second}};
    }
    SiteMemory& larger = ranks[1].sites.front();
    larger.at_peak = 120 * MiB;
    larger.at_end = 30 * MiB;
    ranks[1].peak_allocated += 80 * MiB;
    ranks[1].allocated_at_end += 20 * MiB;
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    const JobFinding& finding = explanation.findings.front();
    EXPECT_EQ(JobFindingKind::peak_imbalance, finding.kind);
    EXPECT_EQ("rank 1 needs 80.0 MiB more at its peak than rank 0", finding.title);
    EXPECT_THAT(finding.text.back(), HasSubstr("on rank 0, but 3.0 times as much on rank 1: the batches"));
    EXPECT_FALSE(finding.fix.text.empty());
    larger.median_lifetime = 4 * second;  // no step needs it that long
    EXPECT_EQ(JobFindingKind::rank_imbalance, ranks.explained().findings.front().kind);
    ranks.job.members[1].summary->is_being_written = true;
    EXPECT_EQ(JobFindingKind::peak_imbalance, ranks.explained().findings.front().kind);
}

TEST(JobExplanation, AFindingOfAllRanksIsSaidOnce) {
    Ranks ranks(8);
    for (size_t rank = 0; rank < 8; ++rank) {
        ranks[rank].findings.push_back(leak("train.py:5 main", "`outputs`", 1 * MiB));
    }
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ("all 8 ranks: tensors accumulate in `board`", explanation.findings.front().title);
    EXPECT_EQ(JobFindingKind::shared, explanation.findings.front().kind);
}

TEST(JobExplanation, RanksAreListedAsRuns) {
    Ranks ranks(12);
    const auto phrase = [&](const std::vector<size_t>& members) {
        return ranks_phrase(ranks.job, members, Words(Language::english));
    };
    EXPECT_EQ("rank 5", phrase({5}));
    EXPECT_EQ("ranks 0 to 3 and 7", phrase({0, 1, 2, 3, 7}));
    EXPECT_EQ("ranks 0, 2, 4, 6 and 2 others", phrase({0, 2, 4, 6, 8, 10}));
}

TEST(JobExplanation, SmallDifferencesAreNone) {
    Ranks ranks(8);
    ranks.retain(3, "other.py:1 f", 3 * MiB);
    EXPECT_TRUE(ranks.explained().findings.empty());
}

TEST(JobExplanation, StagesOfAPipelineAreNoLeak) {
    Ranks ranks(4);
    ranks[3].sites.push_back(site("head.py:2 build", 500 * MiB, 500 * MiB, Category::parameter));
    ranks[3].peak_allocated += 500 * MiB;
    ranks[3].parameters += 500 * MiB;
    ranks[3].allocated_at_end += 500 * MiB;
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ(JobFindingKind::stage_imbalance, explanation.findings.front().kind);
    EXPECT_EQ(Severity::pattern, explanation.findings.front().severity);
    EXPECT_THAT(explanation.findings.front().title, HasSubstr("rank 3 needs 500 MiB more than rank"));
}

TEST(JobExplanation, AHigherPeakNamesTheLineAndThePhase) {
    Ranks ranks(8);
    for (size_t rank = 0; rank < 8; ++rank) {
        ranks[rank].peak_phase = "backward";
    }
    ranks[6].sites.push_back(site("log.py:8 histogram", 200 * MiB, 0));
    ranks[6].peak_allocated += 200 * MiB;
    ranks[6].peak_phase = "optimizer";
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ(JobFindingKind::peak_imbalance, explanation.findings.front().kind);
    EXPECT_EQ("log.py:8 histogram", explanation.findings.front().line);
    EXPECT_THAT(explanation.findings.front().text, Contains(HasSubstr("another phase")));
}

TEST(JobExplanation, TheLinesOfADifferenceAddUpToIt) {
    Ranks ranks(2);
    ranks[1].sites[1].at_peak = 20 * MiB;  // 30 MiB less than rank 0
    ranks[1].sites.push_back(site("log.py:8 histogram", 200 * MiB, 0));
    ranks[1].peak_allocated += 170 * MiB;
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ("The difference: 200 MiB from log.py:8 histogram; other lines have 30.0 MiB less.",
              explanation.findings.front().text.front());
}

TEST(JobExplanation, ARankThatFreesLaterIsFound) {
    Ranks ranks(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        ranks[rank].sites.push_back(site("data.py:4 stage", rank == 1 ? 64 * MiB : 0, 0));
        ranks[rank].sites.back().median_lifetime = rank == 1 ? 3 * second : second;
    }
    ranks[1].peak_allocated += 64 * MiB;
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ(JobFindingKind::late_free, explanation.findings.front().kind);
    EXPECT_THAT(explanation.findings.front().members, ElementsAre(1));
}

TEST(JobExplanation, GrowthIsNoLateFree) {
    Ranks ranks(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        ranks[rank].sites.push_back(site("train.py:4 main", rank == 1 ? 64 * MiB : 0, rank == 1 ? 64 * MiB : 0));
        ranks[rank].sites.back().median_lifetime = rank == 1 ? 3 * second : second;
    }
    ranks[1].peak_allocated += 64 * MiB;
    ranks[1].allocated_at_end += 64 * MiB;
    ranks[1].findings.push_back(leak("train.py:4 main", "`outputs`", 1 * MiB));
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ(JobFindingKind::rank_growth, explanation.findings.front().kind);
}

TEST(JobExplanation, AnOutOfMemoryErrorSaysWhatTheOthersHadFree) {
    Ranks ranks(2);
    ranks[0].oom = OomSummary{5 * second, 64 * MiB, 2 * MiB};
    const JobExplanation explanation = ranks.explained();
    ASSERT_FALSE(explanation.findings.empty());
    EXPECT_EQ("rank 0 ran out of memory: it requested 64.0 MiB", explanation.findings.front().title);
    EXPECT_THAT(explanation.findings.front().text, Contains(HasSubstr("rank 1 had 700 MiB free")));
}

TEST(JobExplanation, FewerStepsAndMissingRanksAreSaid) {
    Ranks ranks(4);
    ranks.job.members[2].summary->steps = 13;
    ranks.job.missing_ranks = {4, 5};
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ("rank 2: 13 steps were recorded, and 20 of other ranks", explanation.findings.front().title);
    EXPECT_THAT(explanation.unknowns, ElementsAre("The folder has no traces of 2 ranks: 4 and 5."));
}

TEST(JobExplanation, TheMemoryOfAGpuAddsUpToNvidiaSmi) {
    Ranks ranks(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        ranks[rank].uuid = "GPU-" + std::to_string(rank);
        ranks[rank].device_used = 300 * MiB;
        ranks[rank].components = {{ComponentKind::requested, "", 100 * MiB},
                                  {ComponentKind::context, "", 50 * MiB},
                                  {ComponentKind::other_processes, "", 100 * MiB},
                                  {ComponentKind::unknown, "", 50 * MiB}};
    }
    DeviceSummary stray;  // rank 1 has a context on the GPU of rank 0
    stray.uuid = "GPU-0";
    stray.components = {{ComponentKind::context, "", 80 * MiB}};
    ranks.job.members[1].summary->devices.push_back(stray);
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(2u, explanation.gpus.size());
    const GpuTotal& gpu = explanation.gpus.front();
    EXPECT_EQ(300 * MiB, gpu.used);
    ASSERT_EQ(2u, gpu.parts.size());
    EXPECT_EQ(150 * MiB, gpu.parts[0].bytes);
    EXPECT_EQ(80 * MiB, gpu.parts[1].bytes);
    EXPECT_EQ(70 * MiB, gpu.rest);
}

TEST(JobExplanation, ProcessesOfDifferentTimesShareNoGpu) {
    Ranks ranks(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        ranks[rank].uuid = "GPU-0";
        ranks[rank].components = {{ComponentKind::context, "", 50 * MiB}};
    }
    ASSERT_EQ(1u, ranks.explained().gpus.size());
    EXPECT_EQ(2u, ranks.explained().gpus.front().parts.size());
    ranks.job.members[1].summary->start_utc_ns = 11 * second;  // rank 0 had ended
    ASSERT_EQ(1u, ranks.explained().gpus.size());
    ASSERT_EQ(1u, ranks.explained().gpus.front().parts.size());
    EXPECT_EQ(1u, ranks.explained().gpus.front().parts.front().member);
}

TEST(JobExplanation, SnapshotsWithoutANodeHaveNoKnownGpu) {
    Ranks ranks(2);
    for (JobMember& member : ranks.job.members) {
        member.summary->place = {};
        member.has_rank = false;
    }
    const JobExplanation explanation = ranks.explained();
    EXPECT_TRUE(explanation.gpus.empty());
    EXPECT_EQ("The folder has 2 traces, without ranks: nothing is compared.", explanation.summary.front());
    EXPECT_EQ("rank1.tide: 150 MiB allocated at the peak.", explanation.summary.back());
}

TEST(JobExplanation, ProcessesWithoutRanksAreNotComparedButTheirFindingsAreListed) {
    Ranks ranks(3);
    int64_t pid = 700;
    for (JobMember& member : ranks.job.members) {
        member.summary->place = {};
        member.summary->place.node = "node";
        member.summary->pid = pid++;
        member.has_rank = false;
    }
    ranks.retain(2, "server.py:8 chat", 80 * MiB);
    ranks[2].findings.push_back(leak("server.py:8 chat", "`sessions`", 8 * MiB));
    const JobExplanation explanation = ranks.explained();
    ASSERT_EQ(1u, explanation.findings.size());
    EXPECT_EQ("process 702 on node: tensors accumulate in `board`", explanation.findings.front().title);
    EXPECT_EQ("Move them to the CPU.", explanation.findings.front().fix.text);
    EXPECT_THAT(explanation.summary.front(), HasSubstr("without ranks"));
}

TEST(JobExplanation, SaysThatAJobHasNotUsedAGpuYet) {
    Ranks ranks(2);
    for (JobMember& member : ranks.job.members) {
        member = {"rank.tide", std::nullopt, input_error("no device yet")};
    }
    EXPECT_THAT(ranks.explained().summary.front(), HasSubstr("nothing is compared"));
    ranks.job.members[1].is_being_recorded = true;
    EXPECT_THAT(ranks.explained().summary,
                ElementsAre("The job is being recorded. None of its processes has used a GPU yet."));
}

TEST(JobClocks, AreComparedByTheEndsOfSteps) {
    Ranks ranks(3);
    std::vector<const JobMember*> members;
    for (JobMember& member : ranks.job.members) {
        const int64_t rank = *member.summary->place.rank;
        member.summary->place.node = rank == 2 ? "other" : "node";
        member.summary->start_utc_ns = 100 * second + (rank == 2 ? 7 * second : 0);
        for (int64_t step = 0; step < 5; ++step) {
            member.summary->step_ends.push_back({step, step * second + rank});
        }
        members.push_back(&member);
    }
    const auto clocks = compare_clocks(members);
    EXPECT_EQ(0, clocks.at("node"));
    EXPECT_EQ(7 * second + 2, clocks.at("other"));
    ranks.job.clocks = clocks;
    EXPECT_EQ("The clock of other is 7.00 s ahead of that of the first rank's node. Its times are corrected here.",
              ranks.explained().summary.back());
    EXPECT_EQ(ranks.job.job_time(ranks.job.members[0], second) - 2, ranks.job.job_time(ranks.job.members[2], second));
}

TEST(JobClocks, AreComparedByCallsThatWaitForAllRanks) {
    Ranks ranks(2);
    ProcessSummary &first = *ranks.job.members[0].summary, &other = *ranks.job.members[1].summary;
    other.place.node = "other";
    for (int64_t i = 0; i < 4; ++i) {  // steps that no collective brings together
        first.step_ends.push_back({i, i * second});
        other.step_ends.push_back({i, i * second + 40 * second});
    }
    const std::vector<const JobMember*> members{&ranks.job.members[0], &ranks.job.members[1]};
    const auto clock = [&] { return compare_clocks(members).at("other"); };
    const auto meet = [&](const std::string& name, int64_t time) {
        first.meetings.push_back({name, time});
        other.meetings.push_back({name, time + 3 * second});
    };
    meet("barrier 0", second);
    meet("barrier 1", 2 * second);
    meet("barrier 2", 3 * second);
    EXPECT_EQ(40 * second, clock());  // one of them may have called barrier before it was recorded
    meet("init_process_group 0", 0);
    EXPECT_EQ(3 * second, clock());
    first.meetings.resize(1);
    first.meetings.front().name = "init_process_group 0";
    EXPECT_EQ(40 * second, clock());  // fewer than three
}

TEST(JobEndings, SayWhichProcessFailedBefore) {
    Ranks ranks(3);
    for (JobMember& member : ranks.job.members) {
        member.summary->how_ended = ProcessEnd::exited;
    }
    EXPECT_TRUE(ranks.explained().unknowns.empty());
    ProcessSummary& failed = *ranks.job.members[0].summary;
    failed.how_ended = {ProcessEnd::exception, "RuntimeError"};
    failed.end = 4 * second;
    ProcessSummary& ended = *ranks.job.members[2].summary;
    ended.how_ended = ProcessEnd::silent;
    ended.end = 6 * second;
    ended.last_event = 3 * second;
    const std::vector<std::string> unknowns = ranks.explained().unknowns;
    ASSERT_EQ(1u, unknowns.size());
    EXPECT_THAT(unknowns[0], HasSubstr("rank 2 ended 6.00 s after the start without reporting why, 2.00 s after "
                                       "rank 0 had failed"));
    EXPECT_THAT(unknowns[0], HasSubstr("Its last event was 3.00 s after the start"));
    failed.how_ended = ProcessEnd::exited;
    EXPECT_THAT(ranks.explained().unknowns, ElementsAre(HasSubstr("no other process had failed before")));
}

TEST(JobComparison, ComparesEachRankWithTheSameRank) {
    Ranks a(2), b(3);
    b.retain(1, "board.py:60 add", 80 * MiB);
    b[1].findings.push_back(leak("board.py:60 add", "", 8 * MiB));
    const JobComparison found = compare_jobs(a.job, b.job);
    ASSERT_EQ(3u, found.ranks.size());
    EXPECT_EQ(0, found.ranks[0].peak.difference());
    EXPECT_EQ(80 * MiB, found.ranks[1].peak.difference());
    EXPECT_EQ(80 * MiB, found.ranks[1].end.difference());
    EXPECT_EQ(8 * MiB, found.ranks[1].growth.difference());
    EXPECT_EQ(std::nullopt, found.ranks[2].peak.a) << "only in B";
    EXPECT_EQ(0, found.ranks[2].peak.difference());
    EXPECT_EQ(size_t{1}, found.most_changed);
    ASSERT_EQ(1u, found.sites.size()) << "only what differs";
    EXPECT_EQ("board.py:60 add", found.sites[0].line);
    EXPECT_EQ(80 * MiB, found.sites[0].difference());
    EXPECT_EQ(std::nullopt, compare_jobs(a.job, a.job).most_changed);
}

TEST(JobTraces, AreFoundByTheRankInTheirNames) {
    const TemporaryFolder folder;
    for (const char* name : {"rank1-node-7.tide", "rank11-node-8.tide", "run.rank2-9.tide", "rank3.tide"}) {
        std::ofstream(folder / name) << "no summary and no trace can be read";
    }
    const auto of_rank = [&](int64_t rank) {
        Progress progress;
        const auto found = find_trace_of_rank(folder / "", rank, progress);
        return found ? std::filesystem::path(*found).filename().string() : "";
    };
    EXPECT_EQ("rank1-node-7.tide", of_rank(1));
    EXPECT_EQ("rank11-node-8.tide", of_rank(11));
    EXPECT_EQ("run.rank2-9.tide", of_rank(2));
    EXPECT_EQ("rank3.tide", of_rank(3));
    EXPECT_EQ("", of_rank(4));
    EXPECT_FALSE(std::filesystem::exists(folder / "summaries"));
}

TEST(JobHtml, IsOnePageWithAHeatMapAndAllFindings) {
    Ranks ranks(4);
    ranks.job.folder = "run.tidejob/";
    ranks.retain(2, "board.py:60 <lambda>", 80 * MiB);
    ranks[2].allocated[300] = 180 * MiB;
    const JobExplanation explanation = ranks.explained();
    const std::string page = job_html({ranks.job, explanation}, Words(Language::english));
    EXPECT_THAT(page, HasSubstr("<title>Memory of the job run.tidejob</title>"));
    EXPECT_THAT(page, HasSubstr("<title>rank 2: 180 MiB</title>"));
    EXPECT_THAT(page, HasSubstr("rank 2 retains 80.0\u00a0MiB more"));
    EXPECT_THAT(page, HasSubstr("board.py:60 &lt;lambda&gt;"));
    EXPECT_THAT(page, Not(HasSubstr("<lambda>")));
    EXPECT_THAT(page, Not(HasSubstr("http")));
    EXPECT_THAT(page, HasSubstr("class=\"heat-31\""));
}

}  // namespace
}  // namespace tidemark::test
