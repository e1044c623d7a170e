# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import xml.etree.ElementTree
from html.parser import HTMLParser

from support import (
    ENVIRONMENT,
    FINE,
    INPUT,
    USAGE,
    CommandTest,
    digest,
    generated_snapshot,
    make_graph_trace,
    run,
    snapshot,
)

EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"
LEAK = EXAMPLES / "s01_list_of_cpu_outputs.tide"


class Page(HTMLParser):
    """Checks that tags are nested. Collects the visible text and all external references."""

    VOID = frozenset({"meta", "br", "link", "img"})

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.fetched, self.tags = [], "", [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "href", "onclick", "onload")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data if "style" not in self.open else ""


class Explain(CommandTest):
    def test_explains_the_chosen_part_of_the_run(self):
        whole = json.loads(self.run_fine("explain", LEAK, "--format", "json"))
        part = json.loads(
            self.run_fine("explain", LEAK, "--format", "json", "--from", "event:100", "--at", "event:300")
        )
        self.assertEqual(part["time_point"]["event"], 300)
        self.assertIn("At event 300", part["summary"][0])
        self.assertLess(part["findings"][0]["bytes"], whole["findings"][0]["bytes"])

    def test_refuses_an_empty_part(self):
        answer = run("explain", LEAK, "--from", "event:300", "--at", "event:300")
        self.assertEqual(answer.returncode, USAGE)
        self.assertIn("--from event:300 is not before the point in time", answer.stderr)

    def test_names_growth_line_referrer_and_fix(self):
        text = self.run_fine("explain", LEAK, "--language", "en")
        for part in (
            "Leak:",
            "retain_graph=True",
            "`results`",
            "s01_list_of_cpu_outputs.py:",
            "8.00 KiB",
            "Confidence",
        ):
            self.assertIn(part, text)
        self.assertNotIn("\033", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 110)

    def test_time_points_of_the_text_work_in_other_commands(self):
        time_points = re.findall(r"^ {6}(event:\d+|time:\d+ns) ", self.run_fine("explain", LEAK), re.M)
        self.assertTrue(time_points)
        for time_point in time_points:
            self.run_fine("top", LEAK, "--at", time_point)

    def test_json_has_the_documented_keys(self):
        found = self.json_of("explain", LEAK)
        self.assertEqual(
            set(found),
            {
                "device",
                "device_name",
                "time_point",
                "run_trend",
                "summary",
                "total_bytes",
                "shares",
                "findings",
                "unknowns",
            },
        )
        self.assertEqual(set(found["time_point"]), {"event", "time_ns", "text"})
        self.assertEqual(found["run_trend"], "grows")
        self.assertEqual(sum(share["bytes"] for share in found["shares"]), found["total_bytes"])
        finding = found["findings"][0]
        self.assertEqual(set(finding["memory"]), {"event", "bytes", "allocations"})
        self.assertEqual(finding["memory"]["bytes"], finding["bytes"])
        self.assertEqual(set(finding["path"][0]), {"kind", "text", "bytes", "line", "allocation", "node"})
        self.assertEqual(
            set(finding),
            {
                "kind",
                "severity",
                "confidence",
                "basis",
                "title",
                "text",
                "bytes",
                "per_iteration_bytes",
                "rises",
                "count",
                "since_ns",
                "since_iteration",
                "component",
                "memory",
                "line",
                "source",
                "stack",
                "referrer",
                "path",
                "evidence",
                "fixes",
                "unknowns",
            },
        )
        self.assertEqual((finding["kind"], finding["severity"]), ("retained-graph", "leak"))
        self.assertEqual(finding["per_iteration_bytes"], 8192)
        self.assertEqual(set(finding["stack"][0]), {"function", "file", "line"})
        for evidence in finding["evidence"]:
            self.assertEqual(set(evidence), {"text", "event", "time_ns", "until_ns", "allocation", "node", "component"})
        for fix in finding["fixes"]:
            self.assertEqual(set(fix), {"text", "code", "diff", "bytes", "per_iteration_bytes"})

    def test_ids_are_those_of_other_commands(self):
        evidence = [item for finding in self.json_of("explain", LEAK)["findings"] for item in finding["evidence"]]
        for option, key in (("--alloc", "allocation"), ("--node", "node")):
            ids = [item[key] for item in evidence if item[key] is not None]
            self.assertTrue(ids, key)
            for number in ids:
                self.run_fine("graph", LEAK, option, number)

    def test_a_list_for_several_devices_and_one_object_for_a_selected_one(self):
        trace = self.imported_bytes(generated_snapshot(devices=2))
        found = self.json_of("explain", trace)
        self.assertEqual([device["device"] for device in found], [1, 0], "the device with most events is first")
        self.assertEqual(self.json_of("explain", trace, "--device", "1"), found[0])
        text = self.run_fine("explain", trace)
        self.assertIn("Device 0", text)
        self.assertIn("Device 1", text)
        self.assertIn("0, 1", self.run_failing(USAGE, "explain", trace, "--device", "7"))

    def test_every_trace_is_explained_in_every_format(self):
        for trace in sorted(EXAMPLES.glob("*.tide")):
            found = self.json_of("explain", trace)
            self.assertGreaterEqual(len(found["summary"]), 2, trace)
            for kind in ("text", "markdown", "html"):
                self.assertIn(
                    found["summary"][0].split()[0],
                    self.run_fine("explain", trace, "--format", kind, "--language", "en"),
                )

    def test_html_is_complete_and_self_contained(self):
        output = self.folder / "why.html"
        self.assertEqual(self.run_fine("explain", LEAK, "--format", "html", "-o", output), "")
        content = output.read_text()
        page = Page(content)
        self.assertEqual(page.open, [])
        self.assertEqual(page.fetched, [])
        self.assertNotIn("script", page.tags)
        self.assertIn("retain_graph=True", page.text)
        self.assertIn("Memory of this finding over time", page.text)
        self.assertNotRegex(content, r"https?:|url\(|@import")
        plots = re.findall(r"<svg.*?</svg>", content, re.S)
        self.assertGreaterEqual(len(plots), 3)
        for plot in plots:
            drawn = xml.etree.ElementTree.fromstring(plot)
            width, height = map(float, drawn.attrib["viewBox"].split()[2:])
            for circle in drawn.iter("circle"):
                self.assertTrue(0 <= float(circle.attrib["cx"]) <= width and 0 <= float(circle.attrib["cy"]) <= height)

    def test_html_has_the_bytes_of_the_lines_that_the_command_source_prints(self):
        event = self.json_of("explain", LEAK)["time_point"]["event"]
        source = self.json_of("source", LEAK, LEAK.with_suffix(".py").name, "--at", f"event:{event}")
        lines = [line for line in source["lines"] if line["self_bytes"] > 0]
        self.assertGreater(len(lines), 1)
        page = self.run_fine("explain", LEAK, "--format", "html")
        rows = {}
        for row in re.findall(r"<tr><td><code>(.*?)</code>(.*?)</tr>", page):
            rows[row[0]] = re.findall(r'<td class="number">(.*?)</td>', row[1])
        self.assertEqual(set(rows), {f"{LEAK.stem}.py:{line['line']}" for line in lines})
        for line in lines:
            shown = rows[f"{LEAK.stem}.py:{line['line']}"]
            for cell, name in zip(shown, ("active_bytes", "peak_bytes", "leaked_bytes")):
                if line[name] == 0:
                    self.assertEqual(cell, "")
                else:
                    number, unit = cell.split()
                    factor = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
                    self.assertAlmostEqual(float(number.replace(",", "")) * factor / line[name], 1, delta=0.01)

    def test_html_defines_each_color_that_it_uses_for_light_and_dark(self):
        page = self.run_fine("explain", EXAMPLES / "gpt2.tide", "--format", "html")
        style, body = page.split("</style>")
        used = set(re.findall(r'class="[^"]*\b((?:category|component)-\d+)"', body))
        self.assertGreater(len({name for name in used if name.startswith("category")}), 4)
        self.assertGreater(len({name for name in used if name.startswith("component")}), 3)
        for name in used:
            values = re.findall(rf"--{name}: (#[0-9a-f]{{6}});", style)
            self.assertEqual(len(values), 2, name)
            self.assertIn(f"path.{name} {{ fill: var(--{name}); }}", style)
            self.assertIn(f"i.{name} {{ background: var(--{name}); }}", style)
        for name in set(re.findall(r"var\((--[a-z0-9-]+)\)", page)):
            self.assertIn(f"{name}: #", style)
        self.assertIn("Memory by category over time", Page(page).text)

    def test_graphs_retain_tensors_not_all_of_which_are_saved_for_backward(self):
        text = " ".join(self.run_fine("explain", LEAK).split())
        self.assertIn("retains its autograd graph, with 8.00 KiB of GPU tensors: 484 KiB in 60 autograd graphs", text)

    def plot(self, content, title):
        """Returns the plot with this heading as XML, and the texts of its legend by CSS class."""
        part = content.split(f"<figcaption>{title}</figcaption>")[1].split("</figure>")[0]
        legend = dict(re.findall(r'<li><i class="(.*?)"></i>(.*?)</li>', part))
        return xml.etree.ElementTree.fromstring(re.search(r"<svg.*?</svg>", part, re.S)[0]), legend

    def test_html_draws_the_lines_and_the_peak_of_the_window(self):
        page = self.run_fine("explain", EXAMPLES / "gpt2.tide", "--format", "html")
        drawn, legend = self.plot(page, "Memory by category over time")
        lines = [path.attrib for path in drawn.iter("path") if path.attrib["class"].startswith("series ")]
        self.assertEqual([legend[line["class"]] for line in lines], ["reserved", "active", "allocated"])

        def highest(line):
            return min(float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", line["d"]))

        self.assertLess(highest(lines[0]), highest(lines[2]), "more is reserved than allocated")
        peak = re.search(r"peak allocated +(\S+ \S+)", self.run_fine("info", EXAMPLES / "gpt2.tide"))[1]
        labels = [text.text for text in drawn.iter("text") if text.get("class") == "peak"]
        self.assertEqual(labels, [f"peak {peak} allocated"])
        names = [text.text for text in drawn.iter("text") if text.get("class") == "band"]
        self.assertIn("parameters", names)
        self.assertEqual(len(names), len(set(names)))

    def test_html_shows_an_out_of_memory_error_in_the_plot(self):
        page = self.run_fine("explain", EXAMPLES / "s09_list_until_out_of_memory.tide", "--format", "html")
        drawn, _ = self.plot(page, "Memory by category over time")
        self.assertIn("failure", [path.attrib["class"] for path in drawn.iter("path")])
        texts = [text.text for text in drawn.iter("text") if text.get("class") == "failure"]
        self.assertRegex(texts[0], "out of memory: .* requested")

    def test_html_draws_the_memory_of_a_finding_in_the_color_of_its_severity(self):
        page = self.run_fine("explain", LEAK, "--format", "html")
        drawn, _ = self.plot(page, "Memory of this finding over time")
        classes = [path.attrib["class"] for path in drawn.iter("path")]
        self.assertIn("curve leak", classes)
        self.assertIn("under-curve leak", classes)

    def test_untrusted_names_are_escaped(self):
        function = "</svg><script>alert(1)</script>\033[31m"
        trace = self.imported_bytes(generated_snapshot(function=function, steps=40))
        for kind in ("text", "markdown", "html"):
            text = self.run_fine("explain", trace, "--format", kind)
            self.assertNotIn("\033", text)
            if kind != "text":
                self.assertNotIn("<script", text)

    def test_language_follows_option_or_locale(self):
        german = {**os.environ, "LC_ALL": "de_DE.UTF-8"}
        chinese = {**os.environ, "LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_CN.UTF-8"}
        english = run("explain", LEAK, "--language", "en").stdout
        self.assertEqual(run("explain", LEAK, env=german).stdout, english)
        asked = run("explain", LEAK, "--language", "zh_CN").stdout
        self.assertNotEqual(asked, english)
        self.assertEqual(run("explain", LEAK, env=chinese).stdout, asked)
        self.assertIn("zh_CN", self.run_failing(USAGE, "explain", LEAK, "--language", "12"))

    def test_width_follows_columns(self):
        narrow = run("explain", LEAK, env={**os.environ, "COLUMNS": "60"}).stdout
        wide = run("explain", LEAK, env={**os.environ, "COLUMNS": "200"}).stdout
        self.assertGreater(len(narrow.splitlines()), len(wide.splitlines()))

    def test_existing_files_are_replaced_only_with_force(self):
        report = self.folder / "report.md"
        report.write_text("mine")
        arguments = ("explain", LEAK, "--format", "markdown", "-o", report)
        self.assertIn("--force", self.run_failing(USAGE, *arguments))
        self.assertEqual(report.read_text(), "mine")
        self.run_fine(*arguments, "--force")
        self.assertIn("retain_graph", report.read_text())
        self.assertEqual(self.files(), ["report.md"])

    def test_a_report_never_replaces_a_trace(self):
        trace = self.imported("s1_plain")
        before = digest(trace)
        for target in (trace, self.folder):
            self.run_failing(USAGE, "explain", trace, "--format", "html", "-o", target, "--force")
        self.assertEqual(digest(trace), before)

    def test_unreadable_and_unwritable_files(self):
        self.run_failing(ENVIRONMENT, "explain", self.folder / "none.tide")
        self.run_failing(INPUT, "explain", snapshot("s1_plain"))
        self.run_failing(ENVIRONMENT, "explain", LEAK, "-o", self.folder / "none" / "out.txt")
        self.run_failing(USAGE, "explain", LEAK, "--format", "pdf")
        if pathlib.Path("/dev/full").exists():
            self.assertIn("space", self.run_failing(ENVIRONMENT, "explain", LEAK, "-o", "/dev/full"))

    def test_without_a_graph_reports_data_gaps(self):
        trace = make_graph_trace(self.folder / "graph.tide", scanned=False)
        self.assertTrue(
            json.dumps(self.json_of("explain", trace)["findings"] + self.json_of("explain", trace)["unknowns"])
        )
        imported = self.json_of("explain", self.imported("s0_graph_leak"))
        self.assertTrue(imported["unknowns"])
        self.assertEqual(run("explain", self.folder / "s0_graph_leak.tide").returncode, FINE)
