# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""tidemark doctor with fake Pythons, drivers and installations. Needs no GPU, no torch."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from support import ENVIRONMENT, FINE, TIDEMARK, USAGE, CommandTest, make_home

REAL_HOME = pathlib.Path(TIDEMARK).parent.parent / "lib" / "tidemark"
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


class Doctor(CommandTest):
    def setUp(self):
        super().setUp()
        self.home = make_home(self.folder)
        unwanted = ("CXX", "DISPLAY", "WAYLAND_DISPLAY", "COLAB_RELEASE_TAG", "SLURM_JOB_ID", "CUDA_INJECTION64_PATH")
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in unwanted and (name == "TIDEMARK" or not name.startswith("TIDEMARK_"))
        }
        self.environment |= {"TIDEMARK_HOME": str(self.home), "TIDEMARK_NVML": "/nonexistent/libnvidia-ml.so.1"}
        self.environment |= {"TIDEMARK_RUNTIME": str(self.folder / "runtime")}

    def run_doctor(self, *arguments, status):
        done = subprocess.run(
            [TIDEMARK, "doctor", *map(str, arguments)],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def examine(self, *arguments, status):
        """Returns the whole answer, and its parts by name."""
        answer = json.loads(self.run_doctor("--format", "json", *arguments, status=status))
        for part in answer["parts"]:
            self.assertEqual(part["ok"], part["fix"] == "", part)
        return answer, {part["name"]: part for part in answer["parts"]}

    def fake_python(self, **facts):
        python = self.folder / "python3"
        facts = {"python": "3.12.1", "executable": "/x/python"} | facts
        python.write_text(f"#!/bin/sh\necho '{json.dumps(facts)}'\n")
        python.chmod(0o755)
        return python

    def with_driver(self):
        self.environment["TIDEMARK_NVML"] = os.environ["TIDEMARK_FAKE_NVML"]
        self.environment["TIDEMARK_CUPTI"] = str(self.home / "libtidemark_core.so")

    def has_no_programs(self):
        (self.folder / "empty").mkdir(exist_ok=True)
        self.environment["PATH"] = str(self.folder / "empty")

    def test_without_a_driver(self):
        answer, parts = self.examine(status=ENVIRONMENT)
        self.assertEqual(answer["works"], "no")
        self.assertEqual(answer["home"], str(self.home))
        self.assertTrue(parts["recorder"]["ok"])
        self.assertFalse(parts["gpu"]["ok"])
        for name in ("python", "torch", "cupti", "system_calls", "runtime", "destination", "attach", "window"):
            self.assertIn(name, parts)
        self.assertIn("Recording does not work here.", self.run_doctor(status=ENVIRONMENT))

    @unittest.skipUnless("TIDEMARK_FAKE_NVML" in os.environ, "the fake driver was not built")
    def test_a_complete_machine(self):
        self.with_driver()
        python = self.fake_python(
            torch="2.11.0", cuda="13.0", torch_lib="/x/lib", plugin_state="brought", plugin="/x/plugin-2.11.0-70d9.so"
        )
        answer, parts = self.examine("--", python, "train.py", status=FINE)
        self.assertEqual(answer["works"], "yes", parts)
        self.assertEqual(parts["torch"]["text"], "2.11.0 for CUDA 13.0")
        self.assertEqual(parts["plugin"]["text"], "plugin-2.11.0-70d9.so came with Tidemark")
        self.assertIn("580", parts["gpu"]["text"])
        self.assertEqual([part["name"] for part in answer["parts"] if part["optional"]], ["attach", "window"])

        launcher = self.folder / "torchrun"
        launcher.write_text(f"#!{python}\n")
        launcher.chmod(0o755)
        self.assertEqual(self.examine("--", launcher, status=FINE)[1]["python"]["text"], "3.12.1, /x/python")

        self.environment["CUDA_INJECTION64_PATH"] = "/opt/nsight/libToolsInjection64.so"
        answer, parts = self.examine("--", python, status=FINE)
        self.assertEqual(answer["works"], "partly")
        self.assertIn("/opt/nsight/libToolsInjection64.so", parts["cupti"]["fix"])
        del self.environment["CUDA_INJECTION64_PATH"]

        (self.home / "libtidemark_driver.so").unlink()
        answer, parts = self.examine("--", python, status=FINE)
        self.assertEqual(answer["works"], "partly")
        self.assertIn("libtidemark_driver.so", parts["recorder"]["text"])
        self.assertIn("Recording works here, but not all parts.", self.run_doctor("--", python, status=FINE))

    def plugin(self, **facts):
        python = self.fake_python(torch="2.11.0", cuda="13.0", **facts)
        return self.examine("--", python, status=ENVIRONMENT)[1]["plugin"]

    def test_the_plugin(self):
        self.has_no_programs()
        self.assertEqual(self.plugin(plugin_state="built", plugin="/c/p.so")["text"], "built already: /c/p.so")
        built = self.plugin(plugin_state="to_build", compiler="g++", cuda_headers="/x/include")
        self.assertTrue(built["ok"])
        self.assertIn("once, in about 30 s: g++, headers in /x/include", built["text"])
        facts = {"plugin_state": "to_build", "compiler": "g++", "cuda_headers_fix": "pip install headers"}
        self.assertEqual(self.plugin(**facts)["fix"], "pip install headers")
        facts = {"plugin_state": "to_build", "cuda_headers": "/x/include"}
        self.assertEqual(self.plugin(**facts)["fix"], "Install g++.")
        conda = {"environment": "conda", "prefix": "/c"}
        self.assertEqual(self.plugin(**facts, **conda)["fix"], "conda install -p /c -c conda-forge gxx_linux-64")
        self.assertIn("2.4 or newer", self.plugin(plugin_state="unsupported")["fix"])
        self.assertEqual(self.plugin(plugin_state="unsafe", plugin="chmod go-w /c")["fix"], "chmod go-w /c")

    def test_python_without_torch(self):
        for environment, command in (
            ("conda", "conda install -p /e -c conda-forge pytorch-gpu"),
            ("venv", "/x/python -m pip install torch"),
            ("system", "/x/python -m venv env && env/bin/pip install torch"),
        ):
            python = self.fake_python(environment=environment, prefix="/e")
            _, parts = self.examine("--", python, status=ENVIRONMENT)
            self.assertTrue(parts["torch"]["fix"].endswith(command), parts["torch"])
            self.assertNotIn("plugin", parts)
        self.has_no_programs()
        _, parts = self.examine(status=ENVIRONMENT)
        self.assertEqual(parts["python"]["text"], "not found")

    def test_a_python_that_the_recorder_cannot_read(self):
        _, parts = self.examine("--", self.fake_python(stacks="the frames cannot be read"), status=ENVIRONMENT)
        self.assertEqual(parts["python"]["fix"], "Python stacks are not recorded: the frames cannot be read.")
        _, parts = self.examine("--", self.fake_python(failure="SyntaxError"), status=ENVIRONMENT)
        self.assertIn("SyntaxError", parts["python"]["fix"])

    def test_the_command_that_mends_depends_on_the_surroundings(self):
        self.has_no_programs()
        srun = self.folder / "empty" / "srun"
        srun.touch(0o755)
        self.assertIn("srun --gres=gpu:1", self.examine(status=ENVIRONMENT)[1]["gpu"]["fix"])
        self.environment["SLURM_JOB_ID"] = "7"
        self.assertNotIn("srun", self.examine(status=ENVIRONMENT)[1]["gpu"]["fix"])
        self.environment["APPTAINER_CONTAINER"] = "/images/torch.sif"
        self.assertIn("--gpus all", self.examine(status=ENVIRONMENT)[1]["gpu"]["fix"])
        self.environment["COLAB_RELEASE_TAG"] = "release"
        self.assertIn("Runtime > Change runtime type", self.examine(status=ENVIRONMENT)[1]["gpu"]["fix"])

    def test_a_program_without_a_known_python(self):
        script = self.folder / "cpu.py"
        script.write_text("print(1)\n")
        for program, cause in (("nosuchprogram", "There is no command"), (script, "could not be started")):
            done = subprocess.run(
                [TIDEMARK, "doctor", "--", program], env=self.environment, capture_output=True, text=True, timeout=300
            )
            self.assertIn(done.returncode, (USAGE, ENVIRONMENT))
            self.assertIn(cause, done.stderr)
            self.assertEqual(done.stdout, "")
        _, parts = self.examine("--", "sh", "train.sh", status=ENVIRONMENT)
        self.assertIn("; sh may start another Python", parts["python"]["text"])
        for known in ((), ("--", sys.executable)):
            self.assertNotIn("another Python", self.examine(*known, status=ENVIRONMENT)[1]["python"]["text"])

    def test_the_destination(self):
        _, parts = self.examine("-o", "none/run.tide", status=ENVIRONMENT)
        self.assertIn("no such folder", parts["destination"]["fix"])
        _, parts = self.examine("-o", "run.tide", status=ENVIRONMENT)
        self.assertRegex(parts["destination"]["text"], rf"^{self.folder}, .* free$")
        scratch = self.folder / "scratch"
        scratch.mkdir()
        self.environment |= {"TIDEMARK_USE_SCRATCH": "1", "TIDEMARK_SCRATCH": str(scratch)}
        _, parts = self.examine(status=ENVIRONMENT)
        self.assertIn(f"recorded in {scratch}, ", parts["destination"]["text"])
        scratch.rmdir()
        _, parts = self.examine(status=ENVIRONMENT)
        self.assertIn(f"TIDEMARK_SCRATCH names {scratch}", parts["destination"]["fix"])

    def test_folders_that_others_may_change(self):
        runtime = self.folder / "runtime"
        runtime.mkdir()
        runtime.chmod(0o777)
        self.assertFalse(self.examine(status=ENVIRONMENT)[1]["runtime"]["ok"])
        self.home.chmod(0o777)
        self.assertIn(f"chmod go-w {self.home}", self.examine(status=ENVIRONMENT)[1]["recorder"]["fix"])

    def test_no_code_of_a_folder_that_others_may_change_runs(self):
        package = self.home / "python" / "tidemark"
        (package / "_facts.py").write_text(f"open({str(self.folder / 'ran')!r}, 'w')\n")
        self.examine("--", sys.executable, status=ENVIRONMENT)
        self.assertTrue((self.folder / "ran").exists())
        (self.folder / "ran").unlink()
        self.home.chmod(0o777)
        self.examine("--", sys.executable, status=ENVIRONMENT)
        self.assertFalse((self.folder / "ran").exists())

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_a_real_torch_is_found_without_its_import(self):
        self.environment["TIDEMARK_HOME"] = str(REAL_HOME)
        self.environment["TIDEMARK_CACHE"] = str(self.folder / "cache")
        version = subprocess.run(
            [TORCH_PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True
        ).stdout.strip()
        _, parts = self.examine("--", TORCH_PYTHON, status=ENVIRONMENT)
        self.assertTrue(parts["torch"]["text"].startswith(version))
        self.assertIn("plugin", parts)
        self.assertFalse((self.folder / "cache").exists(), "looking creates nothing")
        self.assertTrue(parts["python"]["ok"], parts["python"])

    @unittest.skipUnless(HAS_TORCH and shutil.which("c++"), "needs torch: ./bootstrap test")
    def test_a_trial_that_fails_is_reported(self):
        self.environment["TIDEMARK_HOME"] = str(REAL_HOME)
        self.environment |= {"TIDEMARK_CACHE": str(self.folder / "cache"), "CXX": "/bin/false"}
        _, parts = self.examine("--trial", "--", TORCH_PYTHON, status=ENVIRONMENT)
        self.assertIn("could not be built", parts["trial"]["fix"])


if __name__ == "__main__":
    unittest.main()
