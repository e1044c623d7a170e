# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark record with fake programs and fake recorder processes. Needs no GPU, no torch."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from support import ENVIRONMENT, FINE, TIDEMARK, USAGE, CommandTest, make_home

EXAMPLES = pathlib.Path(os.environ["TIDEMARK_TEST_DATA"]).parent.parent / "resources" / "examples"

# A recorder process: continues after its program ended, waits for the report of its end, then finishes its trace.
RECORDER = """
import fcntl, json, os, pathlib, sys, time
session, program = pathlib.Path(os.environ["TIDEMARK_SESSION"]), os.getpid()
output, events = sys.argv[1], int(sys.argv[2])
places = json.loads(os.environ.get("PLACES", "{}"))
ready, started = os.pipe()
if os.fork() == 0:
    os.setsid()
    with open(session / f"{program}.trace", "w") as file:
        def report(**facts):
            file.seek(0)
            file.truncate()
            json.dump({"pid": program, "output": output, **facts, **places}, file)
            file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        report(state="recording", events=0, bytes=0)
        os.write(started, b".")
        ending = session / f"{program}.exit"
        while not ending.exists():
            time.sleep(0.005)
        time.sleep(0.2)
        if "--killed" not in sys.argv:
            report(state="finished", events=events, bytes=2048, how_ended=f"the program {ending.read_text()}",
                data_gaps=["stacks of 3 allocations"])
    os._exit(0)
os.read(ready, 1)
"""


class Record(CommandTest):
    def setUp(self):
        super().setUp()
        self.home = make_home(self.folder)
        self.temporary = self.folder / "tmp"
        self.work = self.folder / "work"
        self.temporary.mkdir()
        self.work.mkdir()
        unwanted = ("CUDA_INJECTION64_PATH", "TEARDOWN_CUPTI", "PYTHONPATH")
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in unwanted and (name == "TIDEMARK" or not name.startswith("TIDEMARK_"))
        }
        self.environment |= {"TIDEMARK_HOME": str(self.home), "TMPDIR": str(self.temporary)}

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [TIDEMARK, "record", *map(str, arguments)],
            cwd=self.work,
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def wait_for(self, condition, seconds=50):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def record(self, *arguments, status=FINE):
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, errors)
        return output, errors

    def python(self, code, *arguments, options=(), status=FINE):
        return self.record(*options, "--", sys.executable, "-c", code, *arguments, status=status)

    def environment_seen(self, *options):
        output, errors = self.python("import json, os; print(json.dumps(dict(os.environ)))", options=options)
        return json.loads(output), errors

    def test_the_environment_makes_the_program_record(self):
        seen, _ = self.environment_seen("-o", "deep.tide")
        self.assertEqual(seen["TIDEMARK_RECORD"], "1")
        self.assertEqual(seen["TIDEMARK_OUTPUT"], str(self.work.resolve() / "deep.tide"))
        self.assertEqual(seen["TIDEMARK_WITH"], "stacks,ops,modules,graph,driver,nvml")
        self.assertEqual(seen["TIDEMARK_HOME"], str(self.home))
        self.assertEqual(seen["PYTHONPATH"], str(self.home / "startup"))
        self.assertEqual(seen["CUDA_INJECTION64_PATH"], str(self.home / "libtidemark_driver.so"))
        self.assertEqual(seen["TEARDOWN_CUPTI"], "1")
        self.assertEqual(seen["TIDEMARK_FORCE"], "0")
        self.assertEqual(self.environment_seen("--force")[0]["TIDEMARK_FORCE"], "1")

    def test_user_settings_are_kept(self):
        self.environment |= {"PYTHONPATH": "/mine", "TEARDOWN_CUPTI": "0"}
        seen, _ = self.environment_seen()
        self.assertEqual(seen["PYTHONPATH"], f"{self.home / 'startup'}:/mine")
        self.assertEqual(seen["TEARDOWN_CUPTI"], "0")

    def test_the_driver_part_is_omitted_unless_requested(self):
        seen, _ = self.environment_seen("--with", "stacks,nvml")
        self.assertEqual(seen["TIDEMARK_WITH"], "stacks,nvml")
        self.assertNotIn("CUDA_INJECTION64_PATH", seen)
        self.assertNotIn("TEARDOWN_CUPTI", seen)

    def test_another_tools_injection_is_kept(self):
        self.environment["CUDA_INJECTION64_PATH"] = "/opt/nsys/libToolsInjection64.so"
        seen, errors = self.environment_seen()
        self.assertEqual(seen["CUDA_INJECTION64_PATH"], "/opt/nsys/libToolsInjection64.so")
        self.assertNotIn("driver", seen["TIDEMARK_WITH"])
        self.assertIn("libToolsInjection64.so", errors)

    def test_returns_the_exit_status_of_the_program(self):
        for code, status in (
            ("raise SystemExit(7)", 7),
            ("import os; os.kill(os.getpid(), 9)", 128 + 9),
            ("import os; os.kill(os.getpid(), 15)", 128 + 15),
        ):
            self.python(code, status=status)

    def test_arguments_are_passed_unchanged(self):
        arguments = ["--force", "-o", "x y", "--", "info", ""]
        output, _ = self.python("import json, sys; print(json.dumps(sys.argv[1:]))", *arguments)
        self.assertEqual(json.loads(output), arguments)

    def test_the_session_reports_how_the_program_ended_and_is_removed(self):
        session = self.folder / "session"
        self.python("import os; print(os.getpid()); os._exit(3)", options=("--session", session), status=3)
        (ending,) = session.glob("*.exit")
        self.assertEqual(ending.read_text(), "exited 3")
        self.assertEqual(session.stat().st_mode & 0o777, 0o700)
        self.python("import os; os.kill(os.getpid(), 9)", options=("--session", self.folder / "killed"), status=137)
        (ending,) = (self.folder / "killed").glob("*.exit")
        self.assertEqual(ending.read_text(), "killed by signal 9")
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.python("")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_waits_for_traces_and_summarizes_them(self):
        trace = self.work.resolve() / "my run.tide"
        output, errors = self.python(RECORDER, trace, "12345")
        self.assertEqual(output, "")
        self.assertEqual(
            errors,
            "my run.tide: 12,345 events, 2.00 KiB, the program exited 0\n"
            "  data gap: stacks of 3 allocations\n"
            "Next: tidemark explain 'my run.tide'\n",
        )
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_prints_the_answer_and_the_line_of_the_first_finding(self):
        leak, clean = self.work / "leak.tide", self.work / "clean.tide"
        shutil.copy(EXAMPLES / "s01_list_of_cpu_outputs.tide", leak)
        shutil.copy(EXAMPLES / "s02_detached.tide", clean)
        _, errors = self.python(RECORDER, leak, "10")
        lines = errors.splitlines()
        self.assertLessEqual(len(lines), 7, "with the data gap")
        self.assertEqual(lines[2], "  At their peaks, 85.5 MiB are allocated and 86.0 MiB are reserved.")
        self.assertTrue(lines[3].startswith("  Memory grows by 8.00 KiB per iteration"), errors)
        self.assertTrue(lines[4].startswith("  First: 60 autograd graphs retained by list `results`"), errors)
        self.assertEqual(lines[5], "  Line: s01_list_of_cpu_outputs.py:25 <module>")
        self.assertEqual(lines[6], "Next: tidemark explain leak.tide")
        _, errors = self.python(RECORDER, clean, "10")
        self.assertIn("Memory does not", errors)
        self.assertNotIn("Line:", errors)

    def test_quiet_prints_only_what_is_missing(self):
        trace = self.work / "leak.tide"
        shutil.copy(EXAMPLES / "s01_list_of_cpu_outputs.tide", trace)
        _, errors = self.python(RECORDER, trace, "10", options=["--quiet"])
        self.assertEqual(
            errors, "leak.tide: 10 events, 2.00 KiB, the program exited 0\n  data gap: stacks of 3 allocations\n"
        )
        complete = RECORDER.replace("stacks of 3 allocations", "").replace('data_gaps=[""]', "data_gaps=[]")
        _, errors = self.python(complete, trace, "10", options=["-q"])
        self.assertEqual(errors, "")

    def job_of(self, names):
        """Returns a program that reports a finished trace of each name in the job, and leaves copies there."""
        (self.work / "run.tidejob").mkdir(exist_ok=True)
        return (
            "import json, os, pathlib, shutil\n"
            f"for name in {names!r}:\n"
            "    output = pathlib.Path('run.tidejob', name).absolute()\n"
            f"    shutil.copy({str(EXAMPLES / 's01_list_of_cpu_outputs.tide')!r}, output)\n"
            "    pathlib.Path(os.environ['TIDEMARK_SESSION'], name + '.trace').write_text(json.dumps(dict(\n"
            "        output=str(output), state='finished', events=1000, bytes=1024, how_ended='the program exited')))\n"
        )

    def test_a_job_has_one_line_and_its_answer(self):
        names = [f"rank{rank}-node1-{4711 + rank}.tide" for rank in range(5)]
        _, errors = self.python(self.job_of(names), options=["-o", "run.tidejob"])
        lines = errors.splitlines()
        self.assertEqual(lines[0], "run.tidejob: 5 traces, 5,000 events, 5.00 KiB")
        self.assertIn("  The folder has 5 traces, without ranks: nothing is compared.", errors)
        self.assertEqual(lines[-1], "Next: tidemark explain run.tidejob")
        self.assertLessEqual(len(lines), 6)
        self.assertEqual(len(list((self.work / "run.tidejob").glob("rank*.tide"))), 5)

    def test_a_process_of_a_launcher_does_not_explain_the_job(self):
        self.environment |= {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}
        _, errors = self.python(self.job_of(["rank1-node1-4712.tide"]), options=["-o", "run.tidejob"])
        self.assertNotIn("The job: ", errors)
        self.assertIn("rank1-node1-4712.tide: 1,000 events", errors)

    def test_reports_a_recorder_that_was_killed(self):
        _, errors = self.python(RECORDER, "/elsewhere/run.tide", "5", "--killed")
        self.assertIn("/elsewhere/run.tide: 0 events", errors)
        self.assertIn("the recorder was killed", errors)

    def test_reports_that_nothing_used_the_gpu(self):
        _, errors = self.python("")
        self.assertIn("no process used the GPU", errors)
        self.assertIn("No Python ran the recorder's startup hook", errors)

    def test_reports_how_far_python_got(self):
        hook = (
            "import os, sys\n"
            "with open(os.path.join(os.environ['TIDEMARK_SESSION'], f'{os.getpid()}.python'), 'w') as file:\n"
            "    print(*sys.argv[1:], sep='\\n', file=file)\n"
        )
        for progress, words in (
            (["hook"], "Python did not import PyTorch"),
            (["hook", "torch"], "never initialized CUDA"),
            (["hook", "torch", "cuda"], "the recorder did not start"),
        ):
            _, errors = self.python(hook, *progress)
            self.assertIn(words, errors)

    def test_names_the_option_by_which_python_ignores_the_hook(self):
        for options, named in ((["-I"], "-I"), (["-S"], "-S"), (["-sE"], "-E"), (["-X", "dev", "-I"], "-I")):
            _, errors = self.record("--", sys.executable, *options, "-c", "")
            self.assertIn(f"Python was started with {named}", errors)
            self.assertIn(str(self.home / "python"), errors)
        script = self.folder / "script"
        script.write_text(f"#!{sys.executable} -I\n")
        script.chmod(0o755)
        _, errors = self.record("--", script)
        self.assertIn("Python was started with -I", errors)

    def test_a_trace_that_was_not_moved_is_reported(self):
        scratch = self.folder / "tidemark-node-Ab12Cd"
        scratch.mkdir()
        place, destination = scratch / "run.tide", self.work / "run.tide"
        place.touch()
        (scratch / "run.tide-wal").touch()
        places = {"place": str(place), "destination": str(destination)}
        self.environment["PLACES"] = json.dumps(places)
        _, errors = self.record("--", sys.executable, "-c", RECORDER, destination, "5", "--killed", status=ENVIRONMENT)
        self.assertIn(f"still in {place}", errors)
        self.assertIn(f"mv -f {place} {place}-wal {self.work}/", errors)
        self.assertIn(f"tidemark explain {place}\n", errors, "there is no link to it")
        self.environment["PLACES"] = json.dumps({**places, "failure": "There is no room. Move it with: mv"})
        _, errors = self.record("--", sys.executable, "-c", RECORDER, destination, "5", status=ENVIRONMENT)
        self.assertIn("There is no room.", errors)
        self.assertNotIn("still in", errors)
        _, errors = self.record(
            "--", sys.executable, "-c", RECORDER + "sys.exit(3)", destination, "5", "--killed", status=3
        )

    def test_a_trace_that_could_not_begin_is_reported(self):
        self.environment["PLACES"] = json.dumps({"state": "failed", "failure": "run.tide exists already."})
        recorder = RECORDER.replace('"output": output, **facts, **places}', '"output": output, **(facts | places)}')
        _, errors = self.record("--", sys.executable, "-c", recorder, "run.tide", "0", status=ENVIRONMENT)
        self.assertIn("run.tide exists already.", errors)

    def test_scratch_folders_are_announced_and_checked(self):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        self.environment |= {"TIDEMARK_USE_SCRATCH": "1", "TIDEMARK_SCRATCH": str(scratch)}
        _, errors = self.python("")
        self.assertIn(f"recorded in {scratch}", errors)
        scratch.rmdir()
        self.assert_refused(ENVIRONMENT, f"TIDEMARK_SCRATCH names {scratch}", "--", "true")
        self.environment["TIDEMARK_USE_SCRATCH"] = "0"
        _, errors = self.python("")
        self.assertNotIn(str(scratch), errors)

    def test_the_recorder_knows_the_sessions_program(self):
        code = "import os; print(os.environ['TIDEMARK_STARTER'] == str(os.getppid()))"
        self.assertEqual(self.python(code)[0], "True\n")

    def test_ctrl_c_goes_to_the_program(self):
        code = (
            "import signal, sys, time\n"
            "try:\n    print('here', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    sys.exit(5)\n"
        )
        process = self.start("--", sys.executable, "-c", code, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "here\n")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5)

    def test_sigterm_is_forwarded(self):
        code = (
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(6))\n"
            "print('here', flush=True)\ntime.sleep(60)\n"
        )
        process = self.start("--", sys.executable, "-c", code)
        self.assertEqual(process.stdout.readline(), "here\n")
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 6)

    def test_ignored_signals_stay_ignored(self):
        code = "import signal; print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))"
        process = self.start(
            "--", sys.executable, "-c", code, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
        )
        output, _ = process.communicate(timeout=60)
        self.assertEqual(output.split(), [str(signal.SIG_IGN), str(signal.SIG_DFL)])

    def test_ctrl_c_ends_the_wait_for_traces(self):
        code = (
            "import fcntl, os, pathlib, time\n"
            "file = open(os.environ['TIDEMARK_SESSION'] + '/1.trace', 'w')\n"
            "fcntl.flock(file, fcntl.LOCK_EX)\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n    os.closerange(0, 3)\n"
            "    end = time.monotonic() + 60\n"
            "    while not pathlib.Path('end').exists() and time.monotonic() < end:\n        time.sleep(0.05)\n"
        )
        process = self.start("--", sys.executable, "-c", code)
        self.addCleanup((self.work / "end").touch)
        self.wait_for(lambda: list(self.temporary.glob("*/*.exit")))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=50)
        self.assertEqual(process.returncode, FINE)
        self.assertIn("still being written", errors)

    def assert_refused(self, status, part, *arguments):
        output, errors = self.record(*arguments, status=status)
        self.assertEqual(output, "")
        self.assertTrue(errors.startswith("tidemark: "), errors)
        self.assertIn(part, errors)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_errors_before_the_program_runs(self):
        program = ["--", sys.executable, "-c", "print('ran')"]
        self.assert_refused(USAGE, 'no command "nosuchprogram"', "--", "nosuchprogram")
        self.assert_refused(USAGE, "There is no program to run")
        self.assert_refused(USAGE, "The name of the output is empty", "-o", "", *program)
        self.assert_refused(USAGE, "0 is not a number from 1 to 1000000", "--one-in", "0", *program)
        self.assert_refused(USAGE, "select from stacks, ops", "--with", "stacks,color", *program)
        self.assert_refused(ENVIRONMENT, "no such folder", "-o", self.work / "none" / "x.tide", *program)
        self.assert_refused(ENVIRONMENT, "could not be started", "--", self.work)
        (self.work / "run.tide").write_text("mine")
        self.assert_refused(USAGE, "is left alone", "--force", *program)
        (self.home / "tidemark-recorder").unlink()
        self.assert_refused(ENVIRONMENT, "lacks tidemark-recorder", "-o", "x.tide", *program)

    def test_the_command_line_is_left_out_on_request(self):
        self.assertNotIn("TIDEMARK_COMMAND_LINE", self.environment_seen()[0])
        self.assertEqual(self.environment_seen("--no-command-line")[0]["TIDEMARK_COMMAND_LINE"], "0")

    def test_source_lines_are_left_out_on_request(self):
        self.assertNotIn("TIDEMARK_SOURCE", self.environment_seen()[0])
        self.assertEqual(self.environment_seen("--no-source")[0]["TIDEMARK_SOURCE"], "0")

    def test_detail_is_passed_on(self):
        self.assertEqual(self.environment_seen()[0]["TIDEMARK_DETAIL"], "adaptive")
        self.assertEqual(self.environment_seen("--detail", "full")[0]["TIDEMARK_DETAIL"], "full")
        self.assert_refused(USAGE, "adaptive", "--detail", "some", "--", "true")

    def test_limit_of_the_size_is_passed_on(self):
        self.assertEqual(self.environment_seen()[0]["TIDEMARK_KEEP"], "2GB")
        self.assertEqual(self.environment_seen("--keep", "64 MiB")[0]["TIDEMARK_KEEP"], "64 MiB")
        self.assertEqual(self.environment_seen("--keep", "all")[0]["TIDEMARK_KEEP"], "all")
        self.assert_refused(USAGE, "is not a size", "--keep", "much", "--", "true")
        self.assert_refused(USAGE, "smallest limit is 16MB", "--keep", "1MB", "--", "true")

    def test_parts_that_others_may_change_are_not_used(self):
        self.home.chmod(0o777)
        self.assert_refused(ENVIRONMENT, f"chmod go-w {self.home}", "--", "true")

    @unittest.skipUnless(os.geteuid() == 0, "only root can create files of another user")
    def test_parts_of_another_user_are_not_used(self):
        os.chown(self.home, 65534, 65534)
        self.assert_refused(ENVIRONMENT, "nobody", "--", "true")

    def test_a_session_folder_that_others_may_write_is_not_used(self):
        session = self.folder / "session"
        session.mkdir()
        session.chmod(0o777)
        self.assert_refused(ENVIRONMENT, f"chmod go-w {session}", "--session", session, "--", "true")
        session.chmod(0o700)
        self.record("--session", session, "--", "true")

    def test_the_session_is_not_in_a_folder_that_others_may_write(self):
        code = "import os; print(os.environ['TIDEMARK_SESSION'])"
        self.assertTrue(self.python(code)[0].startswith(str(self.temporary)))
        self.temporary.chmod(0o777)
        self.assertTrue(self.python(code)[0].startswith("/tmp/tidemark-session-"))
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_an_existing_trace_is_replaced_only_with_force(self):
        trace = self.imported("s1_plain")
        trace.rename(self.work / "run.tide")
        self.assert_refused(USAGE, "--force replaces it", "--", "true")
        self.record("--force", "--", "true")
