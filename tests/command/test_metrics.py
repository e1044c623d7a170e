# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""`tidemark metrics`: the text format, running programs, and the server on the loopback address."""

import contextlib
import http.client
import pathlib
import re
import signal
import socket
import subprocess
import unittest

from support import FINE, INPUT, TIDEMARK, USAGE, CommandTest, generated_snapshot, run
from test_steering import Steered

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
except ImportError:
    parse_openmetrics = None

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "recorded"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "examples"
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(test, text):
    """Returns {(name, labels): value}. Checks what OpenMetrics demands of the text."""
    lines = text.split("\n")
    test.assertEqual(lines[-2:], ["# EOF", ""])
    found, family, kind, seen = {}, None, None, set()
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            family, kind = line.split(" ")[2:]
            test.assertNotIn(family, seen, "the samples of a family are together")
            seen.add(family)
            continue
        if line.startswith("# "):
            test.assertEqual(line.split(" ")[2], family)
            if line.startswith("# UNIT "):
                test.assertTrue(family.endswith("_" + line.split(" ")[3]))
            continue
        name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line).groups()
        test.assertEqual(name, family + {"counter": "_total", "info": "_info"}.get(kind, ""))
        test.assertEqual(re.sub(LABEL, "", labels).strip(","), "")
        key = name, tuple(LABEL.findall(labels))
        test.assertNotIn(key, found)
        found[key] = float(value)
    return found


def values(found, name, **labels):
    return [value for (key, pairs), value in found.items() if key == name and labels.items() <= dict(pairs).items()]


class Text(CommandTest):
    def test_numbers_are_those_of_the_other_commands(self):
        trace = RECORDED / "resnet.tide"
        text = self.run_fine("metrics", trace)
        found = samples(self, text)
        stats = self.json_of("stats", trace, "--at", "end")
        self.assertEqual(values(found, "tidemark_allocated_bytes"), [stats["allocated_bytes.all.current"]])
        self.assertEqual(values(found, "tidemark_reserved_bytes"), [stats["reserved_bytes.all.current"]])
        row = self.json_of("breakdown", trace, "--at", "end")
        self.assertEqual(values(found, "tidemark_device_used_bytes"), [row["total_bytes"]])
        self.assertEqual(sum(values(found, "tidemark_breakdown_bytes")), row["total_bytes"])
        explained = self.json_of("explain", trace)
        self.assertEqual(sum(values(found, "tidemark_findings")), len(explained["findings"]))
        self.assertEqual(
            values(found, "tidemark_finding_bytes", kind="optimizer-state", severity="pattern"),
            [each["bytes"] for each in explained["findings"] if each["kind"] == "optimizer-state"],
        )
        self.assertEqual(values(found, "tidemark_steps_total", program="training_kinds.py", device="0"), [3])
        if parse_openmetrics:
            self.assertGreater(len(list(parse_openmetrics(text))), 10)

    def test_a_trace_without_steps_has_no_count_of_steps(self):
        text = self.run_fine("metrics", EXAMPLES / "s01_list_of_cpu_outputs.tide")
        self.assertEqual(values(samples(self, text), "tidemark_growth_bytes"), [8192])
        self.assertNotIn("tidemark_steps", text)

    def test_several_traces(self):
        found = samples(self, self.run_fine("metrics", RECORDED / "gan.tide", RECORDED / "eager.tide"))
        self.assertEqual(len(values(found, "tidemark_allocated_bytes")), 2)
        # Two runs of one process id and program.
        twin = self.folder / "gan.tide"
        twin.write_bytes((RECORDED / "gan.tide").read_bytes())
        found = samples(self, self.run_fine("metrics", RECORDED / "gan.tide", twin, twin))
        self.assertEqual(len(values(found, "tidemark_allocated_bytes")), 2)
        self.assertEqual(len(values(found, "tidemark_allocated_bytes", trace=str(twin))), 1)

    def test_labels_are_escaped(self):
        trace = self.imported_bytes(generated_snapshot())
        strange = self.folder / 'a"b\\c\nx.tide'
        pathlib.Path(trace).rename(strange)
        text = self.run_fine("metrics", strange)
        samples(self, text)
        self.assertIn(r'program="a\"b\\c\\nx"', text)

    def test_errors(self):
        self.run_failing(INPUT, "metrics", pathlib.Path(__file__))
        for address in ("0.0.0.0:9464", "192.168.0.1:80", "127.0.0.1", "127.0.0.1:99999", "localhost", "[::]:80", ":1"):
            self.assertIn("127.0.0.1:9464", self.run_failing(USAGE, "metrics", "--listen", address))


class Programs(Steered):
    def test_running_programs(self):
        first, second = self.start(trace="a.tide", name="a"), self.start(trace="b.tide", name="b")
        for pid in (first, second):
            self.await_events(pid)
        found = samples(self, run("metrics").stdout)
        for pid in (first, second):
            self.assertEqual(values(found, "tidemark_recording", pid=str(pid), state="recording"), [1])
            self.assertGreater(values(found, "tidemark_allocated_bytes", pid=str(pid))[0], 0)
            self.assertTrue(values(found, "tidemark_growth_bytes", pid=str(pid)))

    def test_no_program(self):
        self.assertEqual(run("metrics").stdout, "# EOF\n")


class Loopback(CommandTest):
    def serve(self, *arguments):
        process = subprocess.Popen(
            [TIDEMARK, "--language", "en", "metrics", *map(str, arguments), "--listen", "127.0.0.1:0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

        def end():
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), FINE)
            process.stderr.close()

        self.addCleanup(end)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", process.stderr.readline())[1])

    def ask(self, path="/metrics", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        return response.status, response.getheader("Content-Type"), content

    def test_scrapes(self):
        self.serve(RECORDED / "resnet.tide")
        for _ in range(3):
            status, kind, content = self.ask()
            self.assertEqual(status, 200)
            self.assertIn("application/openmetrics-text", kind)
            self.assertEqual(content, self.run_fine("metrics", RECORDED / "resnet.tide"))
        self.assertEqual(self.ask(path="/metrics?x=1")[0], 200)
        self.assertEqual(self.ask(path="/")[0], 404)
        self.assertEqual(self.ask(method="POST")[0], 405)
        status, _, content = self.ask(method="HEAD")
        self.assertEqual((status, content), (200, ""))

    def test_pages_of_other_sites_are_refused(self):
        self.serve(RECORDED / "gan.tide")
        for host, status in (("evil.example", 403), ("evil.example:9464", 403), ("localhost", 200), ("[::1]:80", 200)):
            self.assertEqual(self.ask(Host=host)[0], status)

    def test_garbage_does_not_end_it(self):
        self.serve(RECORDED / "gan.tide")
        for request in (
            b"\r\n\r\n",
            b"GET",
            b"\0" * 20_000,
            b"GET /metrics\r\n\r\n",
            b"GET /metrics HTTP/9\r\nHost:\r\n\r\n",
        ):
            with (
                socket.create_connection(("127.0.0.1", self.port), timeout=60) as peer,
                contextlib.suppress(OSError),  # it may answer and close before it has all
            ):
                peer.sendall(request)
                peer.shutdown(socket.SHUT_WR)
                self.assertTrue(peer.recv(100).startswith(b"HTTP/1.0 "))
        self.assertEqual(self.ask()[0], 200)

    def test_a_trace_that_cannot_be_read(self):
        bad = self.folder / "bad.tide"
        bad.write_text("nothing")
        self.serve(bad)
        self.assertEqual(self.ask()[0], 503)


if __name__ == "__main__":
    unittest.main()
