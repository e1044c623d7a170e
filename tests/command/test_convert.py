# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""`tidemark export` in the formats of other programs, except Parquet (test_export). TIDEMARK_TEST_PYTHON names a Python
with torch, whose own reader of snapshots is then used, too."""

import collections
import csv
import gzip
import json
import os
import pathlib
import pickle
import pickletools
import subprocess
import time
import unittest

from support import FINE, INPUT, USAGE, CommandTest, digest, generated_snapshot, run, snapshot

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "recorded"
PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON")
# The operations that the page pytorch.org/memory_viz knows, of those that a snapshot needs.
OPCODES = {
    *("PROTO", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "TUPLE2", "MEMOIZE", "BINGET", "LONG_BINGET"),
    *("EMPTY_DICT", "SETITEMS", "EMPTY_LIST", "APPENDS"),
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "SHORT_BINUNICODE", "BINUNICODE"),
}


def has_torch():
    return PYTHON and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


class ConvertTest(CommandTest):
    def export(self, kind, trace, *arguments):
        self.count = getattr(self, "count", 0) + 1
        output = self.folder / f"output-{self.count}.{kind}"
        self.run_fine("export", "--format", kind, trace, "-o", output, *arguments)
        return output


class Perfetto(ConvertTest):
    def events(self, trace, *arguments):
        return json.loads(self.export("perfetto", trace, *arguments).read_text())["traceEvents"]

    def test_counters_have_the_peaks(self):
        for name in ("eager", "resnet", "shapes"):
            trace = RECORDED / f"{name}.tide"
            highest = collections.Counter()
            for event in self.events(trace):
                if event["ph"] == "C":
                    highest[event["name"]] = max(highest[event["name"]], event["args"]["bytes"])
            stats = self.json_of("stats", trace, "--at", "peak")
            self.assertEqual(highest["Allocated"], stats["allocated_bytes.all.current"])
            self.assertEqual(
                highest["Reserved"], self.json_of("stats", trace, "--at", "end")["reserved_bytes.all.peak"]
            )
            self.assertIn("Breakdown: requested memory", highest)
            self.assertIn("In use as nvidia-smi shows it", highest)

    def test_steps_marks_findings_and_allocations(self):
        trace = RECORDED / "resnet.tide"
        events = self.events(trace, "--spans", "0")
        names = {
            (event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"
        }
        spans = collections.defaultdict(list)
        for event in events:
            if event["ph"] in "Xi":
                spans[names[event["pid"], event["tid"]]].append(event)
        self.assertEqual([span["name"] for span in spans["Steps"]], ["step 0", "step 1", "step 2"])
        explained = self.json_of("explain", trace)
        self.assertEqual(
            [each["name"] for each in spans["Findings"]], [each["title"] for each in explained["findings"]]
        )
        ((count,),) = self.json_of("query", trace, "SELECT count(*) FROM allocations")["rows"]
        self.assertEqual(len(spans["Allocations"]), count)
        longest = max(spans["Allocations"], key=lambda span: span["args"]["bytes"])
        ((size,),) = self.json_of("query", trace, "SELECT max(block_bytes) FROM allocations")["rows"]
        self.assertEqual(longest["args"]["bytes"], size)

    def test_the_largest_allocations_are_shown(self):
        trace = RECORDED / "resnet.tide"
        result = run("export", "--format", "perfetto", trace, "-o", "-", "--spans", "10")
        self.assertEqual(result.returncode, FINE)
        shown = [event for event in json.loads(result.stdout)["traceEvents"] if "allocation" in event["args"]]
        sizes = self.json_of("query", trace, "SELECT block_bytes FROM allocations ORDER BY 1 DESC LIMIT 10")["rows"]
        self.assertEqual(sorted((each["args"]["bytes"] for each in shown), reverse=True), [size for (size,) in sizes])
        self.assertRegex(result.stderr, r"^note: 5,258 allocations are no spans, because 10 are larger")

    def test_spans_of_a_track_nest_or_are_apart(self):
        for name in ("amp", "gan", "resnet", "streams"):
            tracks = collections.defaultdict(list)
            for event in self.events(RECORDED / f"{name}.tide"):
                if event["ph"] == "X":
                    start = round(event["ts"] * 1000)
                    tracks[event["tid"]].append((start, -(start + round(event["dur"] * 1000))))
            for spans in tracks.values():
                ends = []
                for start, end in sorted(spans):
                    while ends and ends[-1] <= start:
                        ends.pop()
                    self.assertTrue(not ends or -end <= ends[-1], (name, start, end))
                    ends.append(-end)
                    self.assertLess(len(ends), 500)

    def test_the_clock_is_that_of_torch_profiler(self):
        trace = RECORDED / "eager.tide"
        file = json.loads(self.export("perfetto", trace).read_text())
        ((start,),) = self.json_of("query", trace, "SELECT value FROM meta WHERE key = 'start_utc_ns'")["rows"]
        self.assertEqual(file["baseTimeNanoseconds"] % 7_889_238_000_000_000, 0)
        steps = [event for event in file["traceEvents"] if event["name"] == "step 0"]
        ((first,),) = self.json_of("query", trace, "SELECT start_time FROM step ORDER BY number LIMIT 1")["rows"]
        self.assertAlmostEqual(file["baseTimeNanoseconds"] + steps[0]["ts"] * 1000, int(start) + first, delta=1000)

    def test_one_file_with_a_profile(self):
        trace = RECORDED / "eager.tide"
        own = self.events(trace)
        event = {"ph": "X", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.5, "dur": 2, "args": {}}
        profile = {"schemaVersion": 1, "baseTimeNanoseconds": 1_000, "traceEvents": [event], "traceName": "a.json"}
        path = self.folder / "profile.json.gz"
        path.write_bytes(gzip.compress(json.dumps(profile).encode()))
        before = digest(path)
        both = json.loads(self.export("perfetto", trace, "--with", path).read_text())
        self.assertEqual(digest(path), before)
        self.assertEqual(both["traceEvents"][-1], event)
        self.assertEqual(len(both["traceEvents"]), len(own) + 1)
        self.assertEqual({**both, "traceEvents": [event]}, profile)
        first, same = (
            next(each for each in events if each["name"] == "step 0") for events in (own, both["traceEvents"])
        )
        moved = json.loads(self.export("perfetto", trace).read_text())["baseTimeNanoseconds"] - 1_000
        self.assertAlmostEqual(same["ts"] * 1000, first["ts"] * 1000 + moved, delta=1000)

    @unittest.skipUnless(has_torch(), "TIDEMARK_TEST_PYTHON has no torch")
    def test_a_file_that_torch_wrote(self):
        profile = self.folder / "profile.json.gz"
        script = (
            "import sys, torch\n"
            "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:\n"
            "    torch.ones(8) @ torch.ones(8)\n"
            "profile.export_chrome_trace(sys.argv[1])\n"
        )
        result = subprocess.run([PYTHON, "-W", "ignore", "-c", script, profile], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        written = json.loads(gzip.decompress(profile.read_bytes()))
        # The rule by which a file without a profile gets its clock is that of torch.
        base, period = written["baseTimeNanoseconds"], 7_889_238_000_000_000
        self.assertEqual(base, time.time_ns() // period * period)
        both = json.loads(self.export("perfetto", RECORDED / "eager.tide", "--with", profile).read_text())
        self.assertEqual(both["traceEvents"][-len(written["traceEvents"]) :], written["traceEvents"])
        steps = [event["ts"] for event in both["traceEvents"] if event["name"] == "step 0"]
        ((start,),) = self.json_of(
            "query", RECORDED / "eager.tide", "SELECT value FROM meta WHERE key = 'start_utc_ns'"
        )["rows"]
        self.assertAlmostEqual(base + steps[0] * 1000, int(start), delta=60e9)

    def test_files_that_are_no_profile(self):
        for content in ("hello", "{}", '{"traceEvents": [', "[]"):
            path = self.folder / "profile.json"
            path.write_text(content)
            output = self.folder / "both.json"
            message = self.run_failing(
                INPUT, "export", "--format", "perfetto", RECORDED / "eager.tide", "--with", path, "-o", output
            )
            self.assertIn("is not a trace of torch.profiler", message)
            self.assertFalse(output.exists())


class MemoryViz(ConvertTest):
    def test_an_imported_snapshot_comes_back(self):
        for name in ("two_gpus", "expandable_mixed", "gpt_ring", "mempool"):
            trace = self.folder / f"{name}.tide"
            self.run_fine("import", snapshot(name), "-o", trace)
            before = pickle.loads(snapshot(name).read_bytes())
            after = pickle.loads(self.export("memory_viz", trace).read_bytes())
            for device, events in enumerate(before["device_traces"]):
                for a, b in zip(events, after["device_traces"][device], strict=True):
                    for key in ("action", "addr", "device_free", "size", "stream", "time_us"):
                        self.assertEqual(a.get(key), b.get(key), (name, a, b))
                    self.assertEqual(a.get("frames", []), b.get("frames", []))
            self.assertEqual(self.segments(before), self.segments(after))
            self.assertEqual(before.get("external_annotations", []), after["external_annotations"])

    def segments(self, snapshot):
        keys = "device address total_size allocated_size active_size stream segment_type segment_pool_id is_expandable"
        return sorted(
            [segment[key] for key in keys.split()]
            + [(block["address"], block["size"], block["state"]) for block in segment["blocks"]]
            for segment in snapshot["segments"]
        )

    def test_recorded_traces_have_the_peak_and_the_steps(self):
        for name in ("eager", "streams", "expandable"):
            trace = RECORDED / f"{name}.tide"
            written = self.export("memory_viz", trace)
            again = self.folder / f"{name}.tide"
            self.run_fine("import", written, "-o", again)
            for at in ("peak", "end"):
                stats = [self.json_of("stats", each, "--at", at) for each in (trace, again)]
                for key in ("allocated_bytes.all.current", "reserved_bytes.all.current", "active.all.current"):
                    self.assertEqual(stats[0][key], stats[1][key], (name, at, key))
        self.assertIn("ProfilerStep#0", [each["name"] for each in self.annotations(RECORDED / "eager.tide")])

    def annotations(self, trace):
        return pickle.loads(self.export("memory_viz", trace).read_bytes())["external_annotations"]

    def test_the_page_knows_all_operations(self):
        appended, most = 0, 0
        for opcode, _, _ in pickletools.genops(self.export("memory_viz", RECORDED / "resnet.tide").read_bytes()):
            self.assertIn(opcode.name, OPCODES)
        # One operation appends at most 1000 items: the page passes them as arguments of a function.
        file = self.folder / "long.pickle"
        file.write_bytes(generated_snapshot(steps=5_000))
        trace = self.folder / "long.tide"
        self.run_fine("import", file, "-o", trace)
        depth = []
        for opcode, _, _ in pickletools.genops(self.export("memory_viz", trace).read_bytes()):
            if opcode.name == "MARK":
                depth.append(0)
            elif opcode.name in ("APPENDS", "SETITEMS"):
                most = max(most, depth.pop())
                appended += opcode.name == "APPENDS"
                if depth and opcode.name == "SETITEMS":
                    depth[-1] += 1
        self.assertLessEqual(most, 1000)
        self.assertGreater(appended, 15)

    @unittest.skipUnless(has_torch(), "TIDEMARK_TEST_PYTHON has no torch")
    def test_the_reader_of_torch(self):
        trace = self.folder / "two.tide"
        self.run_fine("import", snapshot("two_gpus"), "-o", trace)
        script = (
            "import pickle, sys\n"
            "from torch.cuda import _memory_viz as viz\n"
            "a, b = (pickle.load(open(name, 'rb')) for name in sys.argv[1:])\n"
            "assert viz.segsum(a) == viz.segsum(b)\n"
            "fold = lambda text: text\n"
            "active = lambda data: sorted(x for x in viz.memory(data, fold).split('\\n') if ';inactive;' not in x)\n"
            "assert active(a) == active(b) and len(active(a)) > 5\n"
            "for plot in viz.trace_plot, viz.segment_plot:\n"
            "    assert 'MemoryViz' in plot(b)\n"
        )
        files = snapshot("two_gpus"), self.export("memory_viz", trace)
        result = subprocess.run([PYTHON, "-W", "ignore", "-c", script, *files], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)


class Folded(ConvertTest):
    def test_the_bytes_are_those_of_top(self):
        for trace in (RECORDED / "resnet.tide", RECORDED / "gan.tide"):
            for at in ("peak", "end"):
                lines = self.export("folded", trace, "--at", at).read_text().splitlines()
                stacks = dict(line.rsplit(" ", 1) for line in lines)
                self.assertEqual(len(stacks), len(lines))
                total = sum(map(int, stacks.values()))
                self.assertEqual(total, self.json_of("top", trace, "--at", at)["total"]["bytes"])
        self.assertTrue(all(";" in stack for stack in stacks))

    def test_frames_are_text_without_separators(self):
        trace = self.imported_bytes(generated_snapshot(devices=2, function="a;b\x1b[31m 7\n"))
        lines = self.export("folded", trace).read_text().splitlines()
        self.assertEqual(
            lines, [r"device 0;train.py:7 a,b\x1b[31m 7\n 3072", r"device 1;train.py:8 a,b\x1b[31m 7\n 5632"]
        )

    def test_standard_output(self):
        self.assertIn("\n", self.run_fine("export", "--format", "folded", RECORDED / "gan.tide", "-o", "-"))


class Csv(ConvertTest):
    def table(self, folder, name):
        with (folder / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def test_tables_have_all_columns(self):
        trace = RECORDED / "resnet.tide"
        folder = self.export("csv", trace, "--allocations", "all")
        (row,) = self.table(folder, "runs")
        self.assertEqual(row["device_name"], "NVIDIA H200")
        stats = self.json_of("stats", trace, "--at", "peak")
        self.assertEqual(int(row["peak_allocated_bytes"]), stats["allocated_bytes.all.current"])
        self.assertEqual(row["rank"], "")
        ((count,),) = self.json_of("query", trace, "SELECT count(*) FROM allocations")["rows"]
        self.assertEqual(len(self.table(folder, "allocations")), count)
        titles = [finding["title"] for finding in self.json_of("explain", trace)["findings"]]
        self.assertEqual([row["title"] for row in self.table(folder, "findings")], titles)
        guide = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "FLEET.md").read_text()
        for table in ("runs", "sites", "steps", "findings", "breakdown", "allocations"):
            for column in self.table(folder, table)[0]:
                self.assertIn(f"`{column}`" if column != "device" else "`device`", guide)

    def test_spreadsheets_compute_nothing(self):
        trace = self.imported_bytes(generated_snapshot(function='=1+1,"x"'))
        folder = self.export("csv", trace)
        self.assertEqual(self.table(folder, "sites")[0]["function"], '\'=1+1,"x"')


class Files(ConvertTest):
    def test_names_are_like_that_of_the_trace(self):
        trace = self.folder / "run.tide"
        trace.write_bytes((RECORDED / "gan.tide").read_bytes())
        for kind in ("perfetto", "memory_viz", "folded", "csv"):
            self.run_fine("export", "--format", kind, trace)
        self.assertEqual(
            self.files(), ["run-csv", "run.folded.txt", "run.memory_viz.pickle", "run.perfetto.json", "run.tide"]
        )

    def test_existing_files_are_kept(self):
        trace = RECORDED / "gan.tide"
        for kind in ("perfetto", "memory_viz", "folded"):
            path = self.folder / kind
            path.write_text("mine")
            self.assertIn("--force", self.run_failing(USAGE, "export", "--format", kind, trace, "-o", path))
            self.assertEqual(path.read_text(), "mine")
            self.run_fine("export", "--format", kind, trace, "-o", path, "--force")
        folder = self.folder / "csv"
        folder.mkdir()
        (folder / "steps.csv").write_text("mine")
        self.assertIn("--force", self.run_failing(USAGE, "export", "--format", "csv", trace, "-o", folder))
        self.assertEqual([path.name for path in folder.iterdir()], ["steps.csv"])

    def test_folders_are_not_written_to_the_standard_output(self):
        trace = self.imported("s1_plain")
        for kind in ("csv", "parquet"):
            refusal = self.run_failing(USAGE, "export", "--format", kind, trace, "-o", "-", cwd=self.folder)
            self.assertIn("writes a folder", refusal)
        self.assertEqual(self.files(), ["s1_plain.tide"])

    def test_options_of_other_formats_are_refused(self):
        trace = RECORDED / "gan.tide"
        for arguments in (
            ("folded", "--spans", "5"),
            ("csv", "--at", "end"),
            ("perfetto", "--label", "a=b"),
            ("memory_viz", "--with", "x.json"),
            ("parquet", "--device", "0"),
        ):
            message = self.run_failing(USAGE, "export", trace, "--format", *arguments)
            self.assertRegex(message, f"{arguments[1]} is for --format ")
        message = self.run_failing(USAGE, "export", "--format", "folded", trace, trace)
        self.assertIn("takes one trace", message)

    def test_what_is_no_trace_is_refused(self):
        for kind in ("perfetto", "memory_viz", "folded", "csv"):
            self.run_failing(INPUT, "export", "--format", kind, snapshot("two_gpus"), "-o", self.folder / "x")
            self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
