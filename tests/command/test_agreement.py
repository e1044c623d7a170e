# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""One quantity has one name and one value in all commands, at the same point in time."""

import html
import pathlib
import tarfile
import tempfile

from support import SNAPSHOTS, CommandTest

RECORDED = ("w02_outputs_in_dict", "w17_record_stream", "w28_graph_for_each_shape")
RETAINED = "s01_outputs_kept"  # a list of outputs: each element is a tensor with a graph
IMPORTED = ("s1_plain", "gpt_ring", "s3_varlen")
POINTS = ("peak", "end")

# Of a live allocation and of a segment, in the views of the trace format, at the state after event {event}.
ALIVE = "(alloc_event IS NULL OR alloc_event < {event}) AND (free_completed IS NULL OR free_completed >= {event})"
ALLOCATED = "(alloc_event IS NULL OR alloc_event < {event}) AND (free_event IS NULL OR free_event >= {event})"


class Agreement(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.corpus = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.corpus.cleanup)
        with tarfile.open(SNAPSHOTS.parent / "corpus" / "medium.tar.xz") as archive:
            for name in (*RECORDED, RETAINED):
                archive.extract(f"{name}.medium.tide", cls.corpus.name, filter="data")

    def traces(self):
        for name in RECORDED:
            yield name, pathlib.Path(self.corpus.name) / f"{name}.medium.tide"
        for name in IMPORTED:
            yield name, self.imported(name)

    def at_each_point(self, check):
        for name, trace in self.traces():
            for at in POINTS:
                with self.subTest(trace=name, at=at):
                    check(trace, at)

    def components(self, trace, at):
        """Returns the bytes of each component of the breakdown."""
        sums = {}
        for component in self.json_of("breakdown", trace, "--at", at)["components"]:
            sums[component["component"]] = sums.get(component["component"], 0) + component["bytes"]
        return sums

    def test_active_memory(self):
        def check(trace, at):
            stats = self.json_of("stats", trace, "--at", at)
            active, count = stats["active_bytes.all.current"], stats["active.all.current"]
            top = self.json_of("top", trace, "--at", at, "--limit", "0")
            self.assertEqual((top["total"]["bytes"], top["total"]["allocations"]), (active, count))
            self.assertEqual(sum(group["bytes"] for group in top["groups"]), active)
            histogram = self.json_of("histogram", trace, "--at", at)["total"]
            self.assertEqual((histogram["bytes"], histogram["allocations"]), (active, count))
            self.assertEqual(self.json_of("source", trace, "--at", at)["total"]["active_bytes"], active)
            alive = ALIVE.format(event=top["time_point"]["event"])
            answer = self.json_of("query", trace, f"SELECT sum(block_bytes), count(*) FROM allocations WHERE {alive}")
            self.assertEqual(answer["rows"][0], [active, count])

        self.at_each_point(check)

    def test_requested_and_reserved_memory(self):
        def check(trace, at):
            stats = self.json_of("stats", trace, "--at", at)
            parts = self.components(trace, at)
            allocated = parts["requested"] + parts.get("rounding", 0)
            self.assertEqual(allocated, stats["allocated_bytes.all.current"])
            event = self.json_of("top", trace, "--at", at)["time_point"]["event"]
            answer = self.json_of(
                "query",
                trace,
                f"SELECT sum(requested_bytes) FROM allocations WHERE {ALLOCATED.format(event=event)}",
            )
            self.assertEqual(answer["rows"][0], [parts["requested"]])
            gaps = parts.get("free_in_segments", 0) + parts.get("private_pools", 0)
            cached = parts.get("cached_segments", 0)
            reserved = allocated + parts.get("waiting", 0) + gaps + cached
            self.assertEqual(reserved, stats["reserved_bytes.all.current"])

        self.at_each_point(check)

    def test_total_of_the_breakdown(self):
        def check(trace, at):
            explained = self.json_of("explain", trace, "--at", at)
            total = self.json_of("breakdown", trace, "--at", at)["total_bytes"]
            self.assertEqual(explained["total_bytes"], total)
            self.assertEqual(sum(share["bytes"] for share in explained["shares"]), total)

        self.at_each_point(check)

    def test_peak_and_end_of_the_run(self):
        for name, trace in self.traces():
            with self.subTest(trace=name):
                info = self.json_of("info", trace)["devices"][0]
                end = self.json_of("stats", trace, "--at", "end")
                recorded = self.json_of("whatif", trace)["recorded"]
                for kind in ("allocated", "reserved"):
                    peak = info[f"peak_{kind}"]["bytes"]
                    self.assertEqual(end[f"{kind}_bytes.all.peak"], peak)
                    self.assertEqual(recorded[f"peak_{kind}_bytes"], peak)
                for kind in ("allocated", "active", "requested", "reserved"):
                    self.assertEqual(info["end"][f"{kind}_bytes"], end[f"{kind}_bytes.all.current"])
                self.assertEqual(recorded["end_reserved_bytes"], info["end"]["reserved_bytes"])
                source = self.json_of("source", trace)["total"]
                self.assertEqual(source["allocations"], info["allocations"])
                self.assertEqual(source["peak_bytes"], self.json_of("top", trace, "--at", "peak")["total"]["bytes"])

    def test_the_parts_have_the_same_names_and_figures_in_every_format(self):
        def check(trace, at):
            shares = self.json_of("explain", trace, "--at", at)["shares"]
            text = self.run_fine("explain", trace, "--at", at)
            page = html.unescape(self.run_fine("explain", trace, "--at", at, "--format", "html"))
            components = self.run_fine("breakdown", trace, "--at", at)
            for share in shares:
                self.assertIn(share["name"], text)
                self.assertIn(share["name"], page)
                if share["name"] in components:
                    in_breakdown = next(line for line in components.splitlines() if share["name"] in line)
                    table = text[text.index("Where the memory is") :]
                    in_text = next(line for line in table.splitlines() if line.rstrip().endswith(share["name"]))
                    self.assertEqual(in_breakdown.split()[:2], in_text.split()[:2])

        self.at_each_point(check)

    def test_categories_have_the_names_of_top(self):
        for name in RECORDED:
            trace = pathlib.Path(self.corpus.name) / f"{name}.medium.tide"
            with self.subTest(trace=name):
                top = self.run_fine("top", trace, "--at", "peak", "--by", "category")
                shown = [line.split(maxsplit=5)[-1] for line in top.splitlines()[2:-1]]
                breakdown = self.run_fine("breakdown", trace, "--at", "peak")
                for share in self.json_of("explain", trace, "--at", "peak")["shares"]:
                    if share["name"] != "everything else" and share["name"] not in breakdown:
                        self.assertIn(share["name"], shown)

    def test_a_retention_path_has_all_bytes_of_an_iteration(self):
        trace = pathlib.Path(self.corpus.name) / f"{RETAINED}.medium.tide"
        leak = self.json_of("explain", trace)["findings"][0]
        element = leak["path"][1]
        self.assertEqual(element["bytes"], leak["per_iteration_bytes"])
        self.assertIn("a tensor of 4.00 KiB, and its graph", element["text"])
