# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The Python package with a real recorder process: calls of a program must appear in the trace. Needs no GPU.

Tests of the hooks need torch (any build): TIDEMARK_TEST_PYTHON names a Python that has it; the default is this one.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from unittest import mock

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
sys.path.insert(0, PACKAGE)

from tidemark import _cuda_headers, _hooks

TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


class Optimizer:
    """Has a step(), as far as the hooks are concerned."""


class StepsOfOptimizers(unittest.TestCase):
    def steps_of(self, turns):
        """Returns the names of the optimizers whose steps count, of [("name", steps in a row), ...]."""
        counted = []
        listener = unittest.mock.Mock()
        listener.step_ended.side_effect = lambda source: counted.append(name)
        optimizers = {name: Optimizer() for name, _ in turns}
        steps = _hooks._OptimizerSteps()
        with unittest.mock.patch.object(_hooks, "_listener", listener):
            for name, count in turns:
                for _ in range(count):
                    steps.begins()
                    steps.ends(optimizers[name])
        return counted

    def test_optimizers_that_take_turns_share_a_step(self):
        self.assertEqual(self.steps_of([("d", 1), ("g", 1)] * 40), ["d"] * 40)
        self.assertEqual(self.steps_of([("g", 1), ("d", 10)] * 40), ["g"] * 40)
        self.assertEqual(self.steps_of([("d", 5), ("g", 1)] * 40), ["d"] * 200)

    def test_the_optimizer_of_the_next_stage_counts(self):
        self.assertEqual(self.steps_of([("first", 20), ("second", 30)]), ["first"] * 20 + ["second"] * 18)
        # It takes longer to tell a stage from a turn if the turns are long.
        gan = [("g", 1), ("d", 10)] * 5
        self.assertEqual(self.steps_of([*gan, ("d", 60)]), ["g"] * 5 + ["d"] * 50)

    def test_the_next_optimizer_counts_when_the_first_is_gone(self):
        counted = []
        ignored = lambda *_: None  # unlike a mock, it does not keep what it gets
        listener = types.SimpleNamespace(in_optimizer=ignored, optimizer_stepped=ignored, step_ended=counted.append)
        steps = _hooks._OptimizerSteps()
        with unittest.mock.patch.object(_hooks, "_listener", listener):
            for _ in range(3):
                steps.ends(Optimizer())
        self.assertEqual(len(counted), 3)


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "run.tide")

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, text, python=sys.executable, status=0):
        done = subprocess.run(
            [python, "-W", "ignore", "-c", "import sys, os, tidemark\n" + text, self.path],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": PACKAGE},
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, sql):
        trace = sqlite3.connect(self.path)
        self.addCleanup(trace.close)
        return trace.execute(sql).fetchall()

    def test_marks_steps_and_the_end(self):
        self.run_program(
            "with tidemark.record(sys.argv[1]):\n"
            "    tidemark.mark('start'); tidemark.step(); tidemark.mark('损失', value=0.25); tidemark.step()\n"
        )
        self.assertEqual(self.rows("SELECT name, value FROM mark ORDER BY id"), [("start", None), ("损失", 0.25)])
        self.assertEqual(self.rows("SELECT number, source FROM step ORDER BY id"), [(0, "user"), (1, "user")])
        self.assertEqual(self.rows("SELECT how_ended FROM process"), [("stopped",)])
        self.assertEqual(self.rows("SELECT value FROM meta WHERE key = 'clean_end'"), [("1",)])

    def test_stop_reports_that_the_trace_is_finished(self):
        done = self.run_program(
            "tidemark.record(sys.argv[1]); tidemark.mark('a'); print(tidemark.stop())\n"
            "print(os.path.exists(sys.argv[1] + '-wal')); tidemark.mark('late'); print(tidemark.stop())"
        )
        self.assertEqual(done.stdout.split(), ["True", "False", "False"])
        self.assertEqual(self.rows("SELECT name FROM mark"), [("a",)])

    def test_ends_are_reported_apart(self):
        for text, status, words in (
            ("", 0, "exited"),
            ("sys.exit(3)", 3, "exited"),
            ("raise ValueError('too large')", 1, "exception: ValueError: too large"),
            ("raise KeyboardInterrupt", 130, "interrupted"),
            ("os._exit(0)", 0, "ended without a word"),
            ("os.kill(os.getpid(), 9)", -9, "ended without a word"),
        ):
            with self.subTest(text):
                program = f"tidemark.record(sys.argv[1], force=True); tidemark.mark('m')\n{text}"
                if status in (-9, 130):
                    done = subprocess.run(
                        [sys.executable, "-c", "import sys, os, tidemark\n" + program, self.path],
                        capture_output=True, env={**os.environ, "PYTHONPATH": PACKAGE},
                    )  # fmt: skip
                    self.assertIn(done.returncode, (status, -2))
                else:
                    self.run_program(program, status=status)
                self.wait_for_recorder()
                self.assertEqual(self.rows("SELECT how_ended FROM process"), [(words,)])
                self.assertEqual(self.rows("SELECT name FROM mark"), [("m",)])

    def wait_for_recorder(self):
        import fcntl
        import time

        for _ in range(400):
            with open(self.path) as trace:
                try:
                    fcntl.flock(trace, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return
                except OSError:
                    time.sleep(0.025)
        self.fail("the recorder goes on for ever")

    def test_a_trace_in_a_scratch_folder_moves_to_its_destination(self):
        scratch = os.path.join(self.folder.name, "scratch")
        os.mkdir(scratch, 0o700)
        with mock.patch.dict(os.environ, {"TIDEMARK_USE_SCRATCH": "1", "TIDEMARK_SCRATCH": scratch}):
            done = self.run_program(
                "with tidemark.record(sys.argv[1]) as recording:\n"
                "    tidemark.mark('m'); print(os.path.islink(sys.argv[1]), recording.output == sys.argv[1])\n"
                "print(os.path.islink(sys.argv[1]))\n"
            )
        self.assertEqual(done.stdout, "True True\nFalse\n")
        self.assertIn(f"The trace is recorded in {scratch}", done.stderr)
        self.assertEqual(self.rows("SELECT name FROM mark"), [("m",)])
        self.assertEqual(os.listdir(scratch), [])

    def test_a_trace_that_cannot_be_moved_is_named_at_the_end(self):
        scratch, destination = (os.path.join(self.folder.name, name) for name in ("scratch", "destination"))
        os.mkdir(scratch, 0o700)
        os.mkdir(destination)
        with mock.patch.dict(os.environ, {"TIDEMARK_USE_SCRATCH": "1", "TIDEMARK_SCRATCH": scratch}):
            done = self.run_program(
                "import shutil\n"
                f"tidemark.record({destination!r} + '/run.tide'); tidemark.mark('m'); shutil.rmtree({destination!r})\n"
            )
        (folder,) = os.listdir(scratch)
        self.path = os.path.join(scratch, folder, "run.tide")
        self.assertIn(f"mv -f {self.path} {destination}/", done.stderr)
        self.assertEqual(self.rows("SELECT name FROM mark"), [("m",)])

    def test_a_recording_without_events_says_why(self):
        done = self.run_program("tidemark.record(sys.argv[1]); tidemark.stop()")
        self.assertIn("did not import PyTorch", done.stderr)
        self.assertEqual(self.rows("SELECT reason FROM data_gap"), [("torch_not_imported",)])

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_a_recording_on_the_cpu_says_why_it_has_no_events(self):
        for options in ("parts=['stacks']", "force=True"):
            with self.subTest(options):
                done = self.run_program(
                    f"import torch\ntidemark.record(sys.argv[1], {options})\n"
                    "model = torch.nn.Linear(2, 2)\nmodel(torch.ones(2)).sum().backward()",
                    TORCH_PYTHON,
                )
                self.assertIn("never initialized CUDA", done.stderr)
                self.assertIn(("cuda_not_initialized",), self.rows("SELECT reason FROM data_gap"))

    def session(self, program, *options):
        """Starts a program as `tidemark record` does; the driver part starts the recording. Returns the session."""
        session = os.path.join(self.folder.name, "session")
        os.makedirs(session, 0o700, exist_ok=True)
        home = os.environ["TIDEMARK_HOME"]
        start = (
            f"import ctypes; ctypes.CDLL({home!r} + '/libtidemark_core.so').tidemark_start_from_environment(None, 0)"
        )
        environment = {
            **os.environ, "PYTHONPATH": os.path.join(home, "startup"), "TIDEMARK_RECORD": "1",
            "TIDEMARK_SESSION": session, "TIDEMARK_OUTPUT": self.path, "TIDEMARK_WITH": "stacks",
            "TIDEMARK_STARTER": str(os.getpid()),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, *options, "-c", f"{start}\n{program}"],
            capture_output=True, text=True, timeout=120, env=environment,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.wait_for_traces(session)
        return session

    def wait_for_traces(self, session):
        import fcntl
        import glob

        for path in glob.glob(os.path.join(session, "*.trace")):
            with open(path) as file:
                fcntl.flock(file, fcntl.LOCK_SH)

    def test_a_program_that_ignores_the_hook_says_so(self):
        for option in "-I", "-S", "-E":
            self.session("", option)
            (arguments,) = self.rows("SELECT arguments FROM data_gap WHERE reason = 'hook_ignored'")
            self.assertIn(f'"{option}"', arguments[0])
            os.remove(self.path)
            os.remove(os.path.join(self.folder.name, "session", "first"))

    def test_the_hook_leaves_a_sign_in_the_session(self):
        session = self.session("")
        self.assertEqual(self.rows("SELECT reason FROM data_gap"), [("torch_not_imported",)])
        (sign,) = [name for name in os.listdir(session) if name.endswith(".python")]
        with open(os.path.join(session, sign)) as file:
            self.assertEqual(file.read(), "hook\n")

    def test_workers_that_did_nothing_leave_the_name_to_the_program(self):
        core = os.path.join(os.environ["TIDEMARK_HOME"], "libtidemark_core.so")
        worker = f"import ctypes; ctypes.CDLL({core!r}).tidemark_start_from_environment(None, 0)"
        session = self.session(
            f"import subprocess, sys\nfor _ in range(2): subprocess.run([sys.executable, '-c', {worker!r}], check=True)"
        )
        self.assertEqual(len([name for name in os.listdir(session) if name.endswith(".trace")]), 3)
        names = sorted(name for name in os.listdir(self.folder.name) if name.endswith(".tide"))
        self.assertEqual(len(names), 3)
        command = self.rows("SELECT command_line FROM process")[0][0]
        self.assertIn("subprocess", command, "the program itself has the chosen name")

    def test_errors_are_reported_and_the_program_continues(self):
        with open(self.path, "w") as file:
            file.write("mine")
        done = self.run_program("tidemark.record(sys.argv[1]); tidemark.mark('a'); tidemark.step(); print('on')")
        self.assertEqual(done.stdout, "on\n")
        self.assertIn("exists already", done.stderr)
        with open(self.path) as file:
            self.assertEqual(file.read(), "mine")
        done = self.run_program("with tidemark.record('/nonexistent/run.tide'): print('on')")
        self.assertEqual(done.stdout, "on\n")
        self.assertIn("/nonexistent", done.stderr)

    def test_unknown_parts_raise_an_error(self):
        done = self.run_program("tidemark.record(sys.argv[1], parts=['stack'])", status=1)
        self.assertIn("unknown parts ['stack']", done.stderr)

    def test_a_forked_child_does_not_record(self):
        self.run_program(
            "tidemark.record(sys.argv[1]); tidemark.mark('parent')\n"
            "if os.fork() == 0:\n    tidemark.mark('child'); tidemark.stop(); os._exit(0)\n"
            "os.wait(); tidemark.mark('after'); tidemark.stop()"
        )
        self.assertEqual(self.rows("SELECT name FROM mark ORDER BY id"), [("parent",), ("after",)])

    def test_the_recorder_is_no_child_of_the_program(self):
        done = self.run_program(
            "tidemark.record(sys.argv[1])\n"
            "try:\n    os.wait()\nexcept ChildProcessError:\n    print('no children')\ntidemark.stop()"
        )
        self.assertEqual(done.stdout, "no children\n")

    RECORDER = (
        "import signal, time\n"
        "def is_recorder(pid):\n"
        "    try:\n"
        "        with open(f'/proc/{pid}/cmdline') as file:\n"
        "            words = file.read().split('\\0')\n"
        "    except OSError:\n"
        "        return False\n"
        "    return words[0].endswith('tidemark-recorder') and sys.argv[1] in words\n"
        "os.environ['TIDEMARK_RING_RECORDS'] = '1024'\n"
        "tidemark.record(sys.argv[1])\n"
        "recorder = next(int(pid) for pid in os.listdir('/proc') if pid.isdigit() and is_recorder(pid))\n"
    )

    def test_a_recorder_that_stalls_does_not_end_the_recording(self):
        done = self.run_program(
            self.RECORDER + "os.kill(recorder, signal.SIGSTOP)\n"
            "for i in range(2000): tidemark.mark('lost in part')\n"
            "os.kill(recorder, signal.SIGCONT); time.sleep(1)\n"
            "tidemark.mark('after'); print(tidemark.stop())\n"
        )
        self.assertEqual(done.stdout, "True\n")
        self.assertEqual(self.rows("SELECT count(*) FROM mark WHERE name = 'after'"), [(1,)])
        self.assertGreater(self.rows("SELECT count(*) FROM data_gap")[0][0], 0)

    def test_nobody_waits_for_a_recorder_that_was_killed(self):
        done = self.run_program(
            self.RECORDER + "tidemark.mark('before'); os.kill(recorder, signal.SIGKILL)\n"
            "begin = time.monotonic(); print(tidemark.stop(), time.monotonic() - begin < 30)\n"
        )
        self.assertEqual(done.stdout, "False True\n", "stop() waits up to a minute for a recorder that works")

    def test_two_recordings_one_after_the_other(self):
        self.run_program("for name in ('a', 'b'):\n    with tidemark.record(sys.argv[1] + name): tidemark.mark(name)\n")
        for name in "ab":
            trace = sqlite3.connect(self.path + name)
            self.assertEqual(trace.execute("SELECT name FROM mark").fetchall(), [(name,)])
            trace.close()

    def test_garbage_collections_are_ranges(self):
        self.run_program(
            "import gc\nfrom tidemark import _garbage, _heap\n"
            "class Node: pass\n"
            "gc.collect()\n"
            "recording = tidemark.record(sys.argv[1])\n"
            "seen = _garbage.Collections(recording.core, _heap.Heap().ticks, lambda: None)\n"
            "for _ in range(5): node = Node(); node.self = node\n"
            "del node; gc.collect(); seen.stop()\n"
            "node = Node(); node.self = node; del node; gc.collect()\n"
            "tidemark.stop()\n"
        )
        ranges = self.rows("SELECT name, end_time >= start_time FROM annotation")
        self.assertEqual(len(ranges), 1)
        self.assertRegex(ranges[0][0], r"garbage collection \(\d+ objects\)")
        self.assertTrue(ranges[0][1])

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_steps_are_detected_at_the_first_optimizer(self):
        self.run_program(
            "import torch\n"
            "with tidemark.record(sys.argv[1]):\n"
            "    a, b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)\n"
            "    first, second = torch.optim.Adam(a.parameters()), torch.optim.SGD(b.parameters(), lr=0.1)\n"
            "    for _ in range(3):\n"
            "        b(a(torch.ones(4))).sum().backward(); first.step(); second.step()\n",
            TORCH_PYTHON,
        )
        self.assertEqual(self.rows("SELECT number, source FROM step"), [(n, "optimizer") for n in range(3)])

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_ranks_without_a_launcher_and_the_calls_in_which_they_meet(self):
        self.run_program(
            "import torch.multiprocessing, torch.distributed as dist\n"
            "def work(rank, path):\n"
            "    tidemark.record(path + str(rank))\n"
            "    dist.init_process_group('gloo', init_method='file://' + path, rank=rank, world_size=2)\n"
            "    some = dist.new_group([0, 1])\n"
            "    dist.barrier(); dist.barrier(group=some); dist.all_gather_object([None, None], rank)\n"
            "    dist.all_reduce(torch.ones(1)); dist.barrier(); dist.destroy_process_group()\n"
            "    tidemark.stop()\n"
            "for rank in range(2):\n"
            "    if os.fork() == 0: work(rank, sys.argv[1]); os._exit(0)\n"
            "for rank in range(2): os.wait()\n",
            TORCH_PYTHON,
        )
        met = ["init_process_group 0", "barrier 0", "all_gather_object 0", "barrier 1"]
        for rank in range(2):
            trace = sqlite3.connect(self.path + str(rank))
            self.addCleanup(trace.close)
            self.assertEqual(trace.execute("SELECT rank, world_size FROM process").fetchall(), [(rank, 2)])
            names = trace.execute("SELECT name FROM annotation WHERE kind = 'collective' ORDER BY id").fetchall()
            self.assertEqual([name for (name,) in names], met)

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_hooks_change_no_result(self):
        text = (
            "import torch\ntorch.manual_seed(1)\n"
            "model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())\n"
            "optimizer = torch.optim.AdamW(model.parameters())\n"
            "for _ in range(5):\n"
            "    loss = model(torch.ones(8)).square().sum(); optimizer.zero_grad(); loss.backward(); optimizer.step()\n"
            # Of the CPU only: what a profiler of the GPU reports of itself depends on whether CUPTI was in use before.
            "cpu = [torch.profiler.ProfilerActivity.CPU]\n"
            "with torch.profiler.profile(activities=cpu) as seen: model(torch.ones(8)).sum().backward()\n"
            "print(loss.item().hex(), sorted((e.key, e.count) for e in seen.key_averages()))\n"
        )
        bare = self.run_program(text, TORCH_PYTHON)
        recorded = self.run_program("tidemark.record(sys.argv[1])\n" + text, TORCH_PYTHON)
        self.assertEqual(bare.stdout, recorded.stdout)

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_lines_of_the_program_are_in_the_trace_unless_unwanted(self):
        program = os.path.join(self.folder.name, "program.py")
        with open(program, "w") as file:
            file.write(
                "import torch\n\n\ndef double(x):\n    return x * 2\n\n\ndouble(torch.ones(1, requires_grad=True))\n"
            )
        for source in (True, False):
            self.run_program(
                f"import runpy\ntidemark.record(sys.argv[1], force=True, source={source})\n"
                f"kept = runpy.run_path({program!r}); tidemark.stop()",
                TORCH_PYTHON,
            )
            lines = self.rows("SELECT line, source_line.text FROM source_line JOIN string ON string.id = file")
            self.assertEqual((5, "    return x * 2") in lines, source)
            self.assertEqual(len(lines) > 0, source)

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_modules_get_their_qualified_names(self):
        done = self.run_program(
            "import copy, torch\nfrom tidemark import _modules\n"
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__(); self.h = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(2)])\n"
            "before = Net()\n"
            "modules = tidemark.record(sys.argv[1], parts=['stacks', 'modules'])._modules\n"
            "later, copied = Net(), copy.deepcopy(before)\n"
            "for net in before, later, copied:\n"
            "    print([modules.path(modules.at(id(module))) for module in (net, net.h[1])])\n"
            "before.h[1] = torch.nn.Tanh(); print(modules.path(before.h[1]), modules.at(4711))\n"
            "address = id(later); del net, later; print(modules.at(address))\n",
            TORCH_PYTHON,
        )
        self.assertEqual(done.stdout, "['Net', 'Net.h.1']\n" * 3 + "Net.h.1 None\nNone\n")

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_no_step_lists_all_objects(self):
        done = self.run_program(
            "import gc, torch\nfrom tidemark import _heap\n"
            "model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())\n"
            "recording = tidemark.record(sys.argv[1], parts=['stacks', 'ops', 'modules', 'graph'])\n"
            "if recording._graph: recording._graph._poller.stop()\n"
            "calls, get_objects, instances = [], gc.get_objects, _heap.Heap.instances\n"
            "gc.get_objects = lambda *a: calls.append('get_objects') or get_objects(*a)\n"
            "_heap.Heap.instances = lambda *a: calls.append('instances') or instances(*a)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "for step in range(5):\n"
            # Lives for one step only, as in models of the library transformers.
            "    loss_of = torch.nn.CrossEntropyLoss()\n"
            "    recording._frames.new_modules = lambda: [id(loss_of), id(model[0]), 4711]\n"
            "    loss_of(model(torch.ones(2, 4)), torch.zeros(2, dtype=torch.long)).backward()\n"
            "    optimizer.step(); optimizer.zero_grad(); tidemark.mark('m')\n"
            "print(calls, id(model[0]) in recording._modules._called)\n"
            "gc.get_objects, _heap.Heap.instances = get_objects, instances\n",
            TORCH_PYTHON,
        )
        self.assertEqual(done.stdout, "[] True\n")

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_an_unsupported_torch_is_rejected_with_a_message(self):
        done = self.run_program(
            "import torch\nfrom tidemark import _build\ntorch.__version__ = '2.3.1'\n"
            "try:\n    _build.built_for(torch)\nexcept OSError as failure:\n    print(failure)",
            TORCH_PYTHON,
        )
        self.assertIn("is not supported", done.stdout)


class CudaHeaders(unittest.TestCase):
    """The search for CUDA headers, in generated folders."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = folder.name
        no_toolkit = mock.patch.object(_cuda_headers, "DEFAULT_TOOLKIT", os.path.join(self.site, "no toolkit"))
        no_toolkit.start()
        self.addCleanup(no_toolkit.stop)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("CUDA_HOME", None)
        os.environ.pop("CUDA_PATH", None)

    def put(self, folder, *headers):
        """Creates headers in an include folder and returns the folder."""
        include = os.path.join(self.site, folder, "include")
        for header in headers:
            path = os.path.join(include, header)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w"):
                pass
        return include

    def test_a_folder_with_a_missing_header_is_rejected(self):
        self.put("nvidia/cu13", "cuda_runtime_api.h")
        self.assertEqual(_cuda_headers.find(self.site, "13.0"), [])
        self.assertIn('"nvidia-cuda-crt==13.0.*"', _cuda_headers.fix("13.0"))
        self.assertIn('"nvidia-cuda-nvcc-cu12==12.6.*"', _cuda_headers.fix("12.6"))
        self.assertNotIn("pip", _cuda_headers.fix(""))

    def test_wheels_of_cuda_12_have_two_folders(self):
        runtime = self.put("nvidia/cuda_runtime", "cuda_runtime_api.h")
        compiler = self.put("nvidia/cuda_nvcc", "crt/host_config.h")
        self.assertEqual(_cuda_headers.find(self.site, "12.6"), [runtime, compiler])

    def test_the_wheel_of_triton_comes_after_those_of_nvidia(self):
        triton = self.put("triton/backends/nvidia", *_cuda_headers.NEEDED)
        self.assertEqual(_cuda_headers.find(self.site, "13.0"), [triton])
        nvidia = self.put("nvidia/cu13", *_cuda_headers.NEEDED)
        self.assertEqual(_cuda_headers.find(self.site, "13.0"), [nvidia])

    def test_a_named_toolkit_comes_first(self):
        self.put("nvidia/cu13", *_cuda_headers.NEEDED)
        toolkit = self.put("toolkit", *_cuda_headers.NEEDED)
        os.environ["CUDA_HOME"] = os.path.dirname(toolkit)
        self.assertEqual(_cuda_headers.find(self.site, "13.0"), [toolkit])


if __name__ == "__main__":
    unittest.main()
