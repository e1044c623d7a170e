# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""pytest --tidemark: the check on recorded traces, the recording on the CPU. TIDEMARK_TEST_PYTHON needs pytest."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
TEST_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
COMMAND_TESTS = pathlib.Path(__file__).resolve().parents[1] / "command"  # has the simulated allocator
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "examples"
HAS_PYTEST = subprocess.run([TEST_PYTHON, "-c", "import pytest"], capture_output=True).returncode == 0
HAS_TORCH = subprocess.run([TEST_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

# A test "records" a trace that was recorded on a GPU: its name says which.
RECORDED = f"""
import contextlib, pathlib, pytest, shutil
from tidemark.integrations import pytest_plugin

@contextlib.contextmanager
def recording(trace):
    name = pathlib.Path(trace).stem
    source = "s01_list_of_cpu_outputs" if "leak" in name else "s06_one_element" if "short" in name else "s02_detached"
    yield
    shutil.copy(pathlib.Path({str(EXAMPLES)!r}, source + ".tide"), trace)

pytest_plugin.recording = recording
"""


@unittest.skipUnless(HAS_PYTEST, f"{TEST_PYTHON} lacks pytest")
class Plugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_pytest(self, tests, *options, conftest="", status=0):
        (self.folder / "conftest.py").write_text(conftest)
        (self.folder / "test_memory.py").write_text("import pytest\n" + tests)
        done = subprocess.run(
            [TEST_PYTHON, "-B", "-m", "pytest", "-p", "tidemark.integrations.pytest_plugin", "-p", "no:cacheprovider",
             "--basetemp", self.folder / "temporary", "--strict-markers", *options],
            capture_output=True, text=True, timeout=300, cwd=self.folder,
            env={**os.environ, "PYTHONPATH": PACKAGE, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                 "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200"},
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_test_within_its_limits_passes(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(max_peak='1GiB', max_growth_per_step=0, no_leak=True)\ndef test_clean(): pass\n"
            "@pytest.mark.tidemark(max_reserved=1 << 30, no_finding=['leak', 'fragmentation'])\ndef test_ok(): pass\n",
            "--tidemark",
            conftest=RECORDED,
        )
        self.assertIn("2 passed", text)
        self.assertIn("tidemark: the GPU memory of marked tests is recorded", text)
        self.assertNotIn("was not checked", text)

    def test_a_leak_fails_with_the_line_and_the_retention_path(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(no_leak=True, max_peak='1MiB')\ndef test_leak(): pass\n",
            "--tidemark",
            conftest=RECORDED,
            status=1,
        )
        for part in (
            "tidemark: the peak of allocated memory is 85.5 MiB, 84.5 MiB more than --max-peak 1MiB; 1 finding",
            "BROKEN: 1 finding matches --no-finding leak",
            "BROKEN: the peak of allocated memory is 85.5 MiB, 84.5 MiB more than --max-peak 1MiB",
            "the largest part, 77.6 MiB, is from s01_list_of_cpu_outputs.py:25 <module>",
            "484 KiB: 60 autograd graphs retained by list `results`",
            "  retention path\n    global variable results (__main__): 484 KiB\n",
            "More: tidemark explain ",
        ):
            self.assertIn(part, text)
        self.assertTrue(list(self.folder.glob("temporary/*/*.tide")), "the trace can be opened")

    def test_a_limit_that_cannot_be_decided_fails(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(max_growth_per_step=0)\ndef test_short(): pass\n",
            "--tidemark",
            conftest=RECORDED,
            status=1,
        )
        self.assertIn("UNKNOWN: --max-growth-per-step 0 cannot be decided", text)

    def test_a_test_that_fails_keeps_its_own_failure(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(no_leak=True)\ndef test_leak(): assert 1 == 2\n",
            "--tidemark",
            conftest=RECORDED,
            status=1,
        )
        self.assertIn("assert 1 == 2", text)
        self.assertNotIn("no-finding leak", text)

    def test_marks_do_nothing_without_the_option(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(no_leak=True)\ndef test_leak(): pass\n", conftest=RECORDED, status=0
        )
        self.assertIn("1 passed", text)
        self.assertNotIn("tidemark:", text)

    def test_wrong_marks_are_refused_before_any_test_runs(self):
        for mark, words in (
            ("max_peek='1GiB'", "does not know max_peek"),
            ("'1GiB'", "does not know '1GiB'"),
            ("no_leak=False", "states no limit"),
        ):
            tests = f"@pytest.mark.tidemark({mark})\ndef test_clean(): print('it ran')\n"
            text = self.run_pytest(tests, "--tidemark", "-s", conftest=RECORDED, status=4)
            self.assertNotIn("it ran", text)
            self.assertIn(words, text)
            self.assertIn("test_memory.py::test_clean: the mark", text)
            tests += "def test_other(): pass\n"
            self.assertIn("1 passed", self.run_pytest(tests, "--tidemark", "-k", "other", conftest=RECORDED))

    def test_a_size_that_is_none_fails(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(max_peak='much')\ndef test_clean(): pass\n",
            "--tidemark",
            conftest=RECORDED,
            status=1,
        )
        self.assertIn('"much" is not a size', text)

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_wrong_limits_fail_without_a_gpu(self):
        tests = "import torch\n"
        for name, limit in (("size", "max_peak='much'"), ("finding", "no_finding='nonsense'")):
            tests += f"@pytest.mark.tidemark({limit})\ndef test_{name}(): pass\n"
        text = self.run_pytest(tests, "--tidemark", status=1)
        self.assertIn("2 failed", text)
        self.assertIn('"much" is not a size', text)
        self.assertIn("nonsense", text)
        self.assertNotIn("During handling", text)

    @unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
    def test_without_a_gpu_the_test_passes_and_the_end_says_so(self):
        tests = (
            "import torch\n@pytest.mark.tidemark(no_leak=True)\ndef test_on_cpu(): assert torch.ones(3).sum() == 3\n"
            "def test_other(): pass\n"
        )
        text = self.run_pytest(tests, "--tidemark")
        self.assertIn("2 passed", text)
        self.assertIn("GPU memory was not checked", text)
        self.assertIn("test_memory.py::test_on_cpu: the test used no GPU", text)
        text = self.run_pytest(tests, "--tidemark-require", status=1)
        self.assertIn("1 failed, 1 passed", text)
        self.assertIn("the GPU memory of this test was not checked", text)
        self.assertNotIn("During handling", text)
        self.assertNotIn("No allocator events", text)

    def test_a_test_is_recorded_and_its_own_line_is_named(self):
        """The allocations are simulated; the recorder, the trace and the check are real."""
        tests = (
            f"import sys; sys.path.insert(0, {str(COMMAND_TESTS)!r})\n"
            "import tidemark._abi as abi\n"
            "from recorded_program import Allocator, recording\n"
            "def allocate(size):\n"
            "    allocator = Allocator(recording().core, abi)\n"
            "    allocator.free(allocator.allocate(size, 'keep', 31), size)\n"
            "@pytest.mark.tidemark(max_peak='2MiB')\ndef test_small(): allocate(1 << 20)\n"
            "@pytest.mark.tidemark(max_peak='2MiB')\ndef test_large(): allocate(3 << 20)\n"
        )
        text = self.run_pytest(tests, "--tidemark-require", status=1)
        self.assertIn("1 failed, 1 passed", text)
        self.assertIn("test_large", text)
        self.assertIn("the peak of allocated memory is 3.00 MiB, 1.00 MiB more than --max-peak 2MiB", text)
        self.assertIn("the largest part, 3.00 MiB, is from train.py:31 keep", text)

    def test_a_recorder_that_does_not_start_is_reported(self):
        text = self.run_pytest(
            "@pytest.mark.tidemark(no_leak=True)\ndef test_one(): pass\n",
            "--tidemark",
            conftest="from tidemark import _api\n_api.current = lambda: 'a recording'\n",
        )
        self.assertIn("test_memory.py::test_one: another recording runs", text)


if __name__ == "__main__":
    unittest.main()
