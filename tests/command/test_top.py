# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
import subprocess

from support import FINE, SNAPSHOTS, STEPS, TIDEMARK, USAGE, CommandTest, generated_snapshot, make_graph_trace

WAYS = (
    "stack",
    "line",
    "file",
    "size",
    "stream",
    "pool",
    "annotation",
    "module",
    "module:2",
    "op",
    "phase",
    "step",
    "category",
    "node-type",
    "graph_step",
)


class Top(CommandTest):
    def test_adds_up_to_the_active_bytes(self):
        for name in ("adam_steps", "streams", "cudagraph", "gpt_ring"):
            trace = self.imported(name)
            for time_point in ("peak", "end", "event:100"):
                active = self.json_of("stats", trace, "--at", time_point)["active_bytes.all.current"]
                for way in WAYS:
                    top = self.json_of("top", trace, "--at", time_point, "--by", way, "--limit", "2")
                    self.assertEqual(top["total"]["bytes"], active, f"{name} {time_point} {way}")
                    shown = sum(group["bytes"] for group in top["groups"])
                    self.assertEqual(shown + top["rest"]["bytes"], active)
                    self.assertLessEqual(len(top["groups"]), 2)

    def test_stacks_show_the_users_frames(self):
        trace = self.imported("gpt_ring")
        text = self.run_fine("top", trace, "--by", "stack", "--limit", "0")
        self.assertRegex(text, r"fixtures\.py:\d+ ")
        self.assertIn("called by", text)
        self.assertNotIn("torch/nn", text)
        self.assertEqual(text.splitlines()[-1].split()[-1], "total")
        group = next(group for group in self.json_of("top", trace)["groups"] if group["frames"])
        self.assertEqual(set(group["frames"][0]), {"function", "file", "line"})

    def test_shows_only_the_first_frames_of_a_deep_stack(self):
        trace = self.imported_bytes(generated_snapshot(steps=2, depth=150))
        text = self.run_fine("top", trace, "--at", "end")
        self.assertEqual(text.count("called by"), 99)
        self.assertIn("(50 more frames; --format json shows them)", text)
        self.assertEqual(len(self.json_of("top", trace, "--at", "end")["groups"][0]["frames"]), 150)

    def test_folds_cpp_frames(self):
        trace = self.folder / "cpp.tide"
        self.run_fine("import", SNAPSHOTS / "stacks_all.pickle.xz", "-o", trace)
        text = self.run_fine("top", trace, "--at", "end")
        self.assertIn("train.py:14 train_step\n" + " " * 34 + "in linear.py:134 forward\n", text)
        self.assertIn("(50 C++ frames; --format json shows them)", text)
        for plumbing in ("unwind", "CUDACachingAllocator", "_PyEval", "start_thread", "??"):
            self.assertNotIn(plumbing, text)
        frames = self.json_of("top", trace, "--at", "end")["groups"][0]["frames"]
        self.assertIn("torch::unwind::unwind()", [frame["function"] for frame in frames])
        files = [group["name"] for group in self.json_of("top", trace, "--at", "end", "--by", "file")["groups"]]
        self.assertEqual(files, ["/home/user/train.py", "no Python file: C++ code"])

    def test_text_has_every_group_once(self):
        trace = self.imported("streams")
        text = self.run_fine("top", trace, "--at", "peak", "--by", "stream", "--limit", "0")
        self.assertIn("stream 0", text)
        self.assertNotIn("more", text)

    def test_groups_of_the_graph(self):
        trace = make_graph_trace(self.folder / "graph.tide")

        def bytes_by(way, time_point="end"):
            groups = self.json_of("top", trace, "--at", time_point, "--by", way)["groups"]
            return {group["name"]: group["bytes"] for group in groups}

        self.assertEqual(bytes_by("category"), {"saved for backward": STEPS * 1024, "parameter": 4096})
        self.assertEqual(sum(bytes_by("node-type").values()), STEPS * 1024 + 4096)
        self.assertEqual(bytes_by("graph_step")["step 3"], 1024)
        self.assertEqual(sum(bytes_by("category", "event:4").values()), 3 * 1024 + 4096)
        self.assertEqual(bytes_by("category", "event:0"), {"parameter": 4096})

    def test_without_a_graph(self):
        groups = self.json_of("top", self.imported("streams"), "--by", "category")["groups"]
        self.assertEqual([group["name"] for group in groups], ["no graph recorded"])

    def test_errors_list_existing_names(self):
        trace = self.imported("streams")
        self.assertIn("stack, line, file", self.run_failing(USAGE, "top", trace, "--by", "color"))
        for way in ("module:", "module:x", "module:0", "op:2"):
            self.assertIn("module:2", self.run_failing(USAGE, "top", trace, "--by", way))
        for limit in ("-1", "99999999999999999999", "x"):
            refusal = self.run_failing(USAGE, "top", trace, "--limit", limit)
            self.assertIn(f"{limit} is not a number from 0 to 1000000000", refusal)

    def test_a_closed_pipe_is_no_error(self):
        trace = self.imported("s0_graph_leak")
        command = subprocess.Popen(
            [TIDEMARK, "top", trace, "--format", "json", "--limit", "0", "--by", "size"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        command.stdout.close()
        self.assertEqual(command.stderr.read(), b"")
        self.assertEqual(command.wait(60), FINE)
        command.stderr.close()
