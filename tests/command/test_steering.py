# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark ps, pause, resume, snapshot, explain PID and attach, with real recorder processes, without GPU and torch."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time
import unittest
import unittest.mock

from support import ENVIRONMENT, FINE, TIDEMARK, USAGE, CommandTest, copy_command, run

HOME = pathlib.Path(TIDEMARK).resolve().parent.parent / "lib" / "tidemark"
PROGRAM = pathlib.Path(__file__).resolve().parent / "recorded_program.py"


class Steered(CommandTest):
    """Has a runtime folder of its own, and starts programs that are recorded."""

    def setUp(self):
        super().setUp()
        self.runtime = self.folder / "r"
        self.enter(unittest.mock.patch.dict(os.environ, TIDEMARK_RUNTIME=str(self.runtime)))
        self.started = []
        self.addCleanup(self.stop_all)

    def enter(self, context):
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def stop_all(self):
        for process, folder in self.started:
            (folder / "stop").touch()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, *command, trace="run.tide", name="p", **variables):
        """Starts the program below `command`, recording into `trace` unless that is None. Returns its pid."""
        folder = self.folder / name
        folder.mkdir()
        arguments = [sys.executable, PROGRAM, folder] + ([self.folder / trace] if trace else [])
        environment = {**os.environ, "PYTHONPATH": str(HOME / "python"), **variables}
        process = subprocess.Popen(
            [*map(str, command), *map(str, arguments)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )
        self.addCleanup(process.stderr.close)
        self.started.append((process, folder))
        self.await_true(lambda: (folder / "pid").exists() or process.poll() is not None)
        self.assertIsNone(process.poll(), "the program has ended")
        return int((folder / "pid").read_text())

    def await_true(self, holds, seconds=30):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.02)

    def programs(self):
        return {program["pid"]: program for program in self.json_of("ps")}

    def await_events(self, pid, count=50):
        self.await_true(lambda: self.programs().get(pid, {}).get("events", 0) > count)


class Ps(Steered):
    def test_nothing_is_recorded(self):
        result = run("ps")
        self.assertEqual((result.returncode, result.stdout), (FINE, ""))
        self.assertIn("no program of this user is being recorded", result.stderr)
        self.assertEqual(self.json_of("ps"), [])

    def test_two_programs(self):
        first = self.start(trace="a.tide", name="a")
        second = self.start(trace="b.tide", name="b")
        self.await_events(first)
        self.await_events(second)
        programs = self.programs()
        self.assertEqual(set(programs), {first, second})
        facts = programs[first]
        self.assertEqual(facts["state"], "recording")
        self.assertEqual(facts["trace"], str(self.folder / "a.tide"))
        self.assertIn("recorded_program.py", facts["command_line"])
        self.assertLess(abs(facts["since_utc_ns"] / 1e9 - time.time()), 600)
        self.assertGreater(facts["file_bytes"], 0)
        text = self.run_fine("ps")
        self.assertIn(f"{first}  recording since ", text)
        self.assertIn("b.tide", text)

    def test_ended_programs_are_not_listed(self):
        pid = self.start()
        process, _ = self.started[0]
        self.await_events(pid)
        process.kill()
        process.wait()
        self.await_true(lambda: self.json_of("ps") == [])
        self.assertEqual(list(self.runtime.iterdir()), [])
        self.assertIn(f"There is no process {pid}.", self.run_failing(USAGE, "pause", pid))

    def test_killed_recorders_are_not_listed(self):
        pid = self.start()
        self.await_events(pid)
        for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = status.read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"tidemark-recorder") and str(pid).encode() in words:
                os.kill(int(status.parent.name), signal.SIGKILL)
        self.await_true(lambda: self.json_of("ps") == [])
        self.assertIn("is not being recorded", self.run_failing(USAGE, "pause", pid))

    def test_a_child_is_not_taken_for_its_parent(self):
        script = "import os, time; child = os.fork(); child and os.write(1, b'%d' % child + b'\\n'); time.sleep(60)"
        environment = {**os.environ, "PYTHONPATH": str(HOME / "startup"), "TIDEMARK_ATTACHABLE": "1"}
        parent = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(parent.stdout.close)
        child = int(parent.stdout.readline())
        self.addCleanup(lambda: os.kill(child, signal.SIGKILL))
        self.assertEqual([program["pid"] for program in self.json_of("ps")], [parent.pid])
        parent.kill()
        parent.wait()
        self.assertEqual(self.json_of("ps"), [], "the child inherited the socket, but does not answer at it")
        self.assertIn("is not being recorded", self.run_failing(USAGE, "resume", child))


class Refusals(Steered):
    def test_wrong_pids(self):
        self.assertIn('"train" is not a process id.', self.run_failing(USAGE, "pause", "train"))
        self.assertIn("There is no process 4194300.", self.run_failing(USAGE, "snapshot", 4194300))
        for command in ("pause", "resume", "snapshot", "explain", "live"):
            self.assertIn("is not being recorded. Start the program", self.run_failing(USAGE, command, os.getpid()))

    def test_a_folder_that_others_can_change(self):
        self.runtime.mkdir()
        self.runtime.chmod(0o777)
        self.assertIn("not a folder that only its user can change", self.run_failing(ENVIRONMENT, "ps"))
        self.assertIn("not a folder that only its user", self.run_failing(ENVIRONMENT, "pause", os.getpid()))
        # The recording itself works.
        self.start()
        self.await_true((self.folder / "run.tide").exists)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_a_folder_of_another_user(self):
        self.runtime.mkdir(0o700)
        os.chown(self.runtime, 65534, 65534)
        self.assertIn("not a folder that only its user can change", self.run_failing(ENVIRONMENT, "ps"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can act as another user")
    def test_a_process_of_another_user(self):
        tidemark = copy_command(self.folder)
        self.folder.chmod(0o755)
        result = subprocess.run(
            [str(tidemark), "pause", str(os.getpid())], user=65534, group=65534, capture_output=True, text=True
        )
        self.assertEqual(result.returncode, ENVIRONMENT, result.stderr)
        self.assertIn("belongs to the user root; only that user and root may steer it", result.stderr)


class Pause(Steered):
    def test_pause_and_resume(self):
        pid = self.start()
        self.await_events(pid)
        self.assertIn("details are paused", self.run_fine("pause", pid))
        self.await_true(lambda: self.programs()[pid]["state"] == "details_paused")
        self.assertIn("paused already", run("pause", pid).stderr)
        events = self.programs()[pid]["events"]
        self.await_events(pid, events + 50)
        live = json.loads(self.run_fine("explain", pid, "--format", "json"))
        self.assertIn("Details have been paused since", json.dumps(live))
        self.assertIn("all details are recorded", self.run_fine("resume", pid))
        self.await_true(lambda: self.programs()[pid]["state"] == "recording")
        self.assertIn("was not paused", run("resume", pid).stderr)
        self.await_events(pid, events + 200)
        self.stop_all()
        shared = self.folder / "shared.tide"
        self.run_fine("share", self.folder / "run.tide", "-o", shared, "--redact", "paths,names,source")
        for trace in (self.folder / "run.tide", shared):
            gaps = [gap["reason"] for gap in self.json_of("info", trace)["data_gaps"]]
            self.assertEqual(gaps.count("details_paused"), 1)
        with sqlite3.connect(f"file:{shared}?mode=ro", uri=True) as database:
            self.assertEqual(
                database.execute("SELECT name, kind FROM annotation").fetchall(), [("details paused", "details paused")]
            )

    def test_nothing_is_said_of_memory_from_a_pause(self):
        pid = self.start()
        self.await_events(pid, 5)
        self.run_fine("pause", pid)
        self.await_events(pid, 800)
        self.stop_all()
        explained = self.json_of("explain", self.folder / "run.tide")
        leaks = [finding for finding in explained["findings"] if finding["severity"] == "leak"]
        self.assertEqual(leaks, [], "memory without stacks grew, but nothing is known of it")
        self.assertIn("Details were paused from", json.dumps(explained["unknowns"]))


class Snapshot(Steered):
    def test_a_snapshot_is_complete_and_explained(self):
        pid = self.start()
        self.await_events(pid, 300)
        steps = self.json_of("info", self.folder / "run.tide")["steps"]
        copied = self.folder / "now.tide"
        self.assertIn(f"process {pid} up to ", self.run_fine("snapshot", pid, "-o", copied))
        info = self.json_of("info", copied, "--check")
        self.assertTrue(info["clean_end"])
        self.assertGreaterEqual(info["steps"], steps)
        self.assertEqual([gap["reason"] for gap in info["data_gaps"]], ["snapshot"])
        self.assertEqual(self.programs()[pid]["state"], "recording")
        findings = self.json_of("explain", copied)["findings"]
        self.assertEqual(findings[0]["severity"], "leak")
        self.assertIn("train.py:31 keep", findings[0]["line"])
        same = self.json_of("explain", pid)["findings"]
        self.assertEqual((same[0]["kind"], same[0]["line"]), (findings[0]["kind"], findings[0]["line"]))
        self.assertIn("exists", self.run_failing(USAGE, "snapshot", pid, "-o", copied))
        self.run_fine("snapshot", pid, "-o", copied, "--force")
        message = self.run_failing(USAGE, "snapshot", pid, "-o", self.folder / "run.tide", "--force")
        self.assertIn("is the trace itself", message)

    def test_a_full_disk_leaves_no_file(self):
        pid = self.start()
        self.await_events(pid)
        message = self.run_failing(ENVIRONMENT, "snapshot", pid, "-o", self.folder / "missing" / "now.tide")
        self.assertIn("missing", message)


class Attach(Steered):
    def hooked(self, name="p", **variables):
        path = os.pathsep.join([str(HOME / "startup"), str(HOME / "python")])
        return self.start(trace=None, name=name, **{"PYTHONPATH": path, "TIDEMARK_ATTACHABLE": "1", **variables})

    def test_attach(self):
        pid = self.hooked()
        self.assertEqual(self.programs()[pid]["state"], "attachable")
        self.assertIn("Nothing is recorded of process", self.run_failing(USAGE, "pause", pid))
        self.assertIn("Nothing is recorded of process", self.run_failing(ENVIRONMENT, "explain", pid))
        trace = self.folder / "attached.tide"
        self.assertIn(f"is being recorded into {trace}", self.run_fine("attach", pid, "-o", trace))
        self.await_events(pid)
        self.assertEqual([program["trace"] for program in self.json_of("ps")], [str(trace)])
        self.assertIn(f"already being recorded into {trace}", self.run_failing(USAGE, "attach", pid, "-o", "x.tide"))
        self.stop_all()
        self.assertTrue(self.json_of("info", trace)["clean_end"])

    def test_an_existing_trace_is_kept(self):
        pid = self.hooked()
        trace = self.folder / "attached.tide"
        trace.write_bytes(b"something else")
        self.assertIn("exists", self.run_failing(USAGE, "attach", pid, "-o", trace))
        self.assertEqual(self.programs()[pid]["state"], "attachable")

    def test_the_hook_of_the_shell(self):
        line = self.run_fine("attach", "--hook")
        shell = f'{line}\nexec "{sys.executable}" -c "import time; print(1, flush=True); time.sleep(60)"'
        program = subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        program.stdout.readline()
        self.assertEqual([each["pid"] for each in self.json_of("ps")], [program.pid])

    def test_programs_without_the_hook_are_refused(self):
        program = subprocess.Popen(
            [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"], stdout=subprocess.PIPE
        )
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        program.stdout.readline()
        if sys.version_info < (3, 14):
            message = self.run_failing(ENVIRONMENT, "attach", program.pid)
            self.assertIn(f"it runs Python {sys.version_info[0]}.{sys.version_info[1]}", message)
            self.assertIn("tidemark attach --hook", message)
        sleep = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleep.wait)
        self.addCleanup(sleep.kill)
        self.assertIn("is not a Python program", self.run_failing(ENVIRONMENT, "attach", sleep.pid))

    def test_a_program_that_forbids_the_folder_runs_on(self):
        self.runtime.mkdir()
        self.runtime.chmod(0o777)
        self.hooked()  # prints a sentence and continues


@unittest.skipUnless("TIDEMARK_FAKE_PYTHON" in os.environ, "needs the stand-in for Python 3.14")
class AttachByRemoteExecution(Steered):
    def fake(self, **variables):
        environment = {"FAKE_FOLDER": str(self.folder), "FAKE_PYTHON": sys.executable, **variables}
        self.enter(unittest.mock.patch.dict(os.environ, environment))
        program = subprocess.Popen([os.environ["TIDEMARK_FAKE_PYTHON"], "60"])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def test_the_program_listens_and_is_recorded(self):
        program = self.fake()
        trace = self.folder / "run.tide"
        self.assertIn(f"is being recorded into {trace}", self.run_fine("attach", program.pid, "-o", trace))
        self.assertEqual(self.programs()[program.pid]["trace"], str(trace))
        self.assertEqual([path for path in self.runtime.iterdir() if path.suffix == ".py"], [])

    def test_the_system_forbids_it(self):
        program = self.fake(FAKE_REFUSAL="PermissionError: [Errno 1] Operation not permitted")
        message = self.run_failing(ENVIRONMENT, "attach", program.pid)
        self.assertIn("the system does not permit to write its memory", message)
        self.assertIn("kernel.yama.ptrace_scope=0", message)

    def test_the_program_forbids_it(self):
        program = self.fake(FAKE_REFUSAL="RuntimeError: Remote debugging is not enabled in the remote process.")
        message = self.run_failing(ENVIRONMENT, "attach", program.pid)
        self.assertIn("its Python refuses (RuntimeError: Remote debugging is not enabled", message)


class RecordPaused(Steered):
    def test_nothing_happens_until_the_recording_is_resumed(self):
        trace = self.folder / "later.tide"
        pid = self.start(TIDEMARK, "record", "-o", trace, "--paused", "--", trace=None)
        self.assertEqual(self.programs()[pid]["state"], "paused")
        self.assertFalse(trace.exists())
        loaded = pathlib.Path(f"/proc/{pid}/maps").read_text()
        self.assertNotIn("libtidemark", loaded, "nothing of the recorder is in the program")
        self.assertIn(f"Process {pid} is being recorded", self.run_fine("resume", pid))
        self.await_events(pid)
        self.assertEqual(self.programs()[pid]["trace"], str(trace))
        self.stop_all()
        process, _ = self.started[0]
        self.assertEqual(process.returncode, FINE, process.stderr.read())
        self.assertGreater(self.json_of("info", trace)["devices"][0]["events"], 50)

    def test_a_recording_that_is_never_resumed(self):
        self.start(TIDEMARK, "record", "-o", self.folder / "later.tide", "--paused", "--", trace=None)
        self.stop_all()
        process, _ = self.started[0]
        self.assertEqual(process.returncode, FINE)
        self.assertIn("no `tidemark resume` started the recording", process.stderr.read())
        self.assertEqual(self.json_of("ps"), [])


if __name__ == "__main__":
    unittest.main()
