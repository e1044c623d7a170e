# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import tarfile

from support import ENVIRONMENT, INPUT, SNAPSHOTS, USAGE, CommandTest, run

LIMIT = 5


class Jobs(CommandTest):
    """Commands that take the folder of a job: two ranks, of which rank 0 keeps predictions."""

    def job(self, name="board_imbalance"):
        with tarfile.open(SNAPSHOTS.parent / "corpus" / "jobs.tar.xz") as archive:
            for member in archive:
                if member.isfile() and member.name.startswith(name + "/"):
                    path = self.folder / member.name
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(archive.extractfile(member).read())
        return self.folder / name

    def traces(self, job):
        return sorted(job.glob("*.tide"))

    def test_the_rank_that_grows_is_named(self):
        job = self.job()
        report = self.json_of("explain", job)
        self.assertEqual(report["findings"][0]["kind"], "rank-growth")
        self.assertEqual(report["findings"][0]["ranks"], [0])
        self.assertEqual(report["findings"][0]["per_iteration"], 8 << 20)
        self.assertEqual([process["rank"] for process in report["processes"]], [0, 1])
        self.assertEqual([process["world_size"] for process in report["processes"]], [2, 2])
        self.assertEqual(len(report["gpus"]), 2)
        for gpu in report["gpus"]:
            self.assertEqual(sum(part["bytes"] for part in gpu["processes"]) + gpu["rest"], gpu["used"])
        text = self.run_fine("explain", job)
        self.assertIn("First: rank 0 retains 632 MiB more than rank 1", text)
        self.assertIn("| rank 0 |", self.run_fine("explain", job, "--format", "markdown"))

    def test_summaries_are_kept_and_made_again_when_the_trace_changes(self):
        job = self.job()
        first = self.run_fine("explain", job)
        summaries = sorted((job / "summaries").glob("*.json"))
        self.assertEqual([path.stem for path in summaries], [path.stem for path in self.traces(job)])
        changed = json.loads(summaries[0].read_text())
        changed["devices"][0]["peak_allocated"] = 77 << 30
        summaries[0].write_text(json.dumps(changed))
        self.assertIn("77.0 GiB", self.run_fine("explain", job), "a summary is used without its trace")
        os.utime(self.traces(job)[0], (1, 1))
        self.assertEqual(self.run_fine("explain", job), first)
        summaries[0].write_text('{"version": 1, "writer": "x"')
        self.assertEqual(self.run_fine("explain", job), first)

    def test_a_rank_has_an_address(self):
        job = self.job()
        self.assertIn("rank 1", self.run_fine("info", f"{job}:1"))
        self.assertIn("board_imbalance.py:95", self.run_fine("top", f"{job}:0", "--by", "line"))
        self.assertIn("A", self.run_fine("diff", f"{job}:0", f"{job}:1", "--by", "line"))
        missing = run("info", f"{job}:7")
        self.assertEqual(missing.returncode, USAGE)
        self.assertIn("no trace of rank 7", missing.stderr)

    def test_info_and_top_show_all_ranks(self):
        job = self.job()
        info = self.run_fine("info", job)
        self.assertRegex(info, r"rank 0 +1\.38 GiB")
        self.assertIn("node1", info)
        sites = self.json_of("top", job, "--limit", 3)["groups"]
        self.assertEqual(len(sites), 3)
        kept = next(site for site in self.json_of("top", job)["groups"] if "py:95" in site["line"])
        self.assertEqual(kept["most_on"], "rank 0")
        self.assertEqual(run("top", job, "--at", "end").returncode, USAGE)

    def test_every_rank_is_checked(self):
        job = self.job()
        answer = run("check", job, "--no-finding", "leak")
        self.assertEqual(answer.returncode, LIMIT)
        self.assertRegex(answer.stdout, r"BROKEN +rank 0, device 0")
        self.assertRegex(answer.stdout, r"ok +rank 1, device 1")

    def test_each_rank_is_compared_with_the_same_rank_of_the_baseline(self):
        job = self.job()
        self.assertIn("All limits hold.", self.run_fine("check", job, "--baseline", job))
        before = self.folder / "before.tidejob"
        before.mkdir()
        shutil.copy(self.traces(job)[0], before)
        answer = run("check", job, "--baseline", before)
        self.assertEqual(answer.returncode, LIMIT)
        self.assertRegex(answer.stdout, r"ok +rank 0, device 0: the peak of allocated")
        self.assertIn("UNKNOWN  rank 1, device 1: the baseline does not contain rank 1", answer.stdout)

    def test_a_shared_job_has_no_names_of_nodes(self):
        job, shared = self.job(), self.folder / "shared.tidejob"
        self.run_fine("share", job, "-o", shared, "--redact", "paths,source,names")
        self.assertEqual([path.name for path in self.traces(shared)], ["rank0.tide", "rank1.tide"])
        for trace in self.traces(shared):
            self.assertNotIn(b"node1", trace.read_bytes())
        self.assertEqual(self.json_of("explain", shared)["findings"][0]["ranks"], [0])

    def test_traces_of_several_nodes_are_collected(self):
        job, target = self.job(), self.folder / "all.tidejob"
        self.run_fine("info", job)
        nodes = [self.folder / "a.tidejob", self.folder / "b.tidejob"]
        for node, trace in zip(nodes, self.traces(job), strict=True):
            (node / "summaries").mkdir(parents=True)
            shutil.move(trace, node)
            shutil.move(job / "summaries" / f"{trace.stem}.json", node / "summaries")
        self.assertIn("2 traces copied", self.run_fine("collect", *nodes, "-o", target))
        self.assertIn("2 were there already", self.run_fine("collect", *nodes, "-o", target))
        self.assertEqual(len(self.json_of("explain", target)["processes"]), 2)
        (target / self.traces(target)[0].name).write_bytes(b"another")
        self.assertEqual(run("collect", *nodes, "-o", target).returncode, USAGE)
        self.assertEqual(run("collect", self.folder, "-o", target).returncode, INPUT)

    def test_bad_traces_are_named_and_the_others_explained(self):
        job = self.job()
        (job / "foreign.tide").write_bytes(b"not a trace")
        cut = job / "rank7-node2-1.tide"
        cut.write_bytes(self.traces(job)[1].read_bytes()[:20000])
        report = self.json_of("explain", job)
        self.assertEqual(report["findings"][0]["ranks"], [0])
        self.assertEqual(len([process for process in report["processes"] if "error" in process]), 2)
        self.assertTrue(any("foreign.tide" in text for text in report["unknowns"]))
        self.assertEqual(run("check", job, "--no-finding", "leak").returncode, INPUT)

    def test_a_missing_rank_is_said(self):
        job = self.job()
        self.traces(job)[0].unlink()
        report = self.json_of("explain", job)
        self.assertEqual(report["missing_ranks"], [0])
        self.assertIn("The folder has no trace of 1 rank: 0.", report["unknowns"])

    def test_a_folder_without_traces_is_none(self):
        empty = self.folder / "empty.tidejob"
        empty.mkdir()
        answer = run("explain", empty)
        self.assertEqual(answer.returncode, INPUT)
        self.assertIn("folder", answer.stderr)

    def test_points_in_time_are_of_one_trace(self):
        job = self.job()
        self.assertEqual(run("explain", job, "--at", "end").returncode, USAGE)
        self.assertEqual(run("stats", job, "--at", "peak").returncode, USAGE)
        self.assertEqual(run("info", job, "--check").returncode, USAGE)

    def test_a_rank_is_opened_without_the_summaries_of_others(self):
        job = self.job()
        self.run_fine("info", f"{job}:1")
        self.assertFalse((job / "summaries").exists())

    def test_two_runs_are_compared_rank_by_rank(self):
        before, after = self.job("ddp_plain"), self.job("board_imbalance")
        difference = self.json_of("diff", before, after)
        self.assertEqual([rank["rank"] for rank in difference["ranks"]], [0, 1])
        for rank in difference["ranks"]:
            self.assertEqual(rank["peak"]["difference_bytes"], rank["peak"]["b"] - rank["peak"]["a"])
        self.assertEqual(difference["ranks"][0]["growth"], {"a": 0, "b": 8 << 20, "difference_bytes": 8 << 20})
        self.assertEqual(difference["most_changed"], 1)
        self.assertTrue(all(site["difference_bytes"] != 0 for site in difference["sites"]))
        self.assertIn("Rank 1 changed most", self.run_fine("diff", before, after))
        self.assertIn("same memory", self.run_fine("diff", before, before))
        self.assertEqual(run("diff", before, self.traces(after)[0]).returncode, USAGE)
        self.assertEqual(run("diff", before, after, "--at-a", "peak").returncode, USAGE)
        self.assertEqual(run("diff", before).returncode, USAGE)

    def test_stats_are_those_of_each_rank(self):
        job = self.job()
        for process, trace in zip(self.json_of("stats", job), self.traces(job), strict=True):
            self.assertEqual(process["trace"], trace.name)
            of_trace = self.json_of("stats", trace)
            for key in ("allocated_bytes.all.peak", "reserved_bytes.all.peak"):
                self.assertEqual(process[key], of_trace[key])
        self.assertRegex(self.run_fine("stats", job), r"rank 0 +1\.38 GiB")

    def test_a_folder_of_unrelated_traces_gets_no_invented_facts(self):
        names = ("s0_graph_leak", "s1_plain", "adam_steps")
        for name in names:
            self.imported(name)
        report = self.json_of("explain", self.folder)
        self.assertEqual(report["gpus"], [])
        text = self.run_fine("explain", self.folder)
        self.assertIn("The folder has 3 traces, without ranks: nothing is compared.", text)
        for name in names:
            title = self.json_of("explain", self.folder / f"{name}.tide")["findings"][0]["title"]
            self.assertIn(f"{name}.tide", text)
            self.assertIn(" ".join(title.split()), " ".join(text.split()))
        self.assertNotIn("process 0", text + self.run_fine("info", self.folder))
        self.assertIn("tidemark top", self.run_failing(USAGE, "top", self.folder))
        self.assertEqual(self.files(), sorted(f"{name}.tide" for name in names))

    def test_collect_names_a_missing_folder_and_makes_none(self):
        refusal = self.run_failing(ENVIRONMENT, "collect", self.folder / "none", "-o", self.folder / "to")
        self.assertIn("there is no such folder", refusal)
        self.assertEqual(self.files(), [])

    def test_html_is_one_page(self):
        job, page = self.job(), self.folder / "job.html"
        self.run_fine("explain", job, "--format", "html", "-o", page)
        text = page.read_text().replace("\N{NO-BREAK SPACE}", " ")
        self.assertIn("rank 0 retains 632 MiB more than rank 1", text)
        self.assertRegex(text, r'<rect class="heat-31"')
        self.assertNotIn("http", text)
        self.assertNotIn("<script", text)

    def test_a_job_with_traces_is_not_recorded_again(self):
        job = self.job().rename(self.folder / "run.tidejob")
        answer = run("record", "-o", job, "--", "true")
        self.assertEqual(answer.returncode, USAGE)
        self.assertIn("has traces already", answer.stderr)
        self.assertEqual(len(self.traces(job)), 2)
