# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The callbacks in trainings by the real libraries on the CPU: what they report, and in which order.

TIDEMARK_TEST_PYTHON names a Python that has the libraries; tests of those that it lacks are skipped.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
COMMAND_TESTS = pathlib.Path(__file__).resolve().parents[1] / "command"  # has the simulated allocator
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "examples"

# Takes the place of a recording and prints what it is told.
LOG = """
import contextlib, json, os, sys, warnings
warnings.simplefilter("ignore")
import tidemark
from tidemark import _api

class Log:
    output = "run.tide"
    def __init__(self):
        self.calls = []
    def running(self):
        return True
    def step_ended(self, source):
        self.calls.append("step")
    def mark(self, name, value):
        self.calls.append(name if value is None else f"{name}=")
    @contextlib.contextmanager
    def _until_exit(self, name):
        yield
        self.calls.append(f"/{name}")
    def phase(self, name):
        self.calls.append(name)
        return self._until_exit(name)
    def last_scan(self, traceback=None):
        pass
    def end(self, *how):
        return True

class core:
    driver_owns_events = staticmethod(lambda: False)

log = _api._current = Log()
Log.core, Log.moves_at_end, Log.is_of_this_process = core, False, lambda self: True
"""

TRAINER = """
import torch
from transformers import Trainer, TrainingArguments
from tidemark.integrations.transformers import TidemarkCallback

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.fail = False
    def forward(self, x, labels=None):
        if self.fail and not self.training:
            raise RuntimeError("no evaluation")
        y = self.layer(x).squeeze(-1)
        return {"loss": ((y - labels) ** 2).mean(), "logits": y}

data = [{"x": torch.randn(4), "labels": torch.tensor(1.0)} for _ in range(16)]

def trainer(**more):
    options = dict(output_dir=sys.argv[1], per_device_train_batch_size=2, report_to=[], disable_tqdm=True,
                   use_cpu=True, logging_strategy="no", save_strategy="no")
    return Trainer(Model(), TrainingArguments(**(options | more)), train_dataset=data, eval_dataset=data[:4],
                   callbacks=[TidemarkCallback()])
"""

LIGHTNING = """
import logging, torch
logging.getLogger(PACKAGE).setLevel(logging.ERROR)
pl = __import__(PACKAGE, fromlist=["Trainer"])
from tidemark.integrations.lightning import TidemarkCallback

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.fail = False
    def training_step(self, batch, index):
        return ((self.layer(batch) - 1) ** 2).mean()
    def validation_step(self, batch, index):
        if self.fail:
            raise RuntimeError("no evaluation")
        self.log("val_loss", ((self.layer(batch) - 1) ** 2).mean())
    def predict_step(self, batch, index):
        return self.layer(batch)
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())

data = torch.utils.data.DataLoader([torch.randn(4) for _ in range(8)], batch_size=2)

def trainer(**more):
    options = dict(accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                   enable_checkpointing=False, default_root_dir=sys.argv[1], num_sanity_val_steps=0)
    return pl.Trainer(**(options | more), callbacks=[TidemarkCallback()])
"""

ACCELERATE = """
import torch
from accelerate import Accelerator
from tidemark.integrations.accelerate import TidemarkTracker, watch

accelerator = Accelerator(cpu=True, log_with=TidemarkTracker(), gradient_accumulation_steps=2)
accelerator.init_trackers("training")
watch(accelerator)
model = torch.nn.Linear(4, 1)
model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
"""


def recording(program):
    """Returns the program with a callback that records itself."""
    return program.replace("TidemarkCallback()", "TidemarkCallback(sys.argv[1] + '/run.tide', parts=['stacks'])")


def has(*modules):
    code = f"import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in {modules!r}))"
    return subprocess.run([TORCH_PYTHON, "-c", code]).returncode == 0


def needs(*modules):
    return unittest.skipUnless(has(*modules), f"{TORCH_PYTHON} lacks one of {', '.join(modules)}")


class Programs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = self.folder / "run.tide"

    def run_program(self, *parts, status=0):
        """Returns the last line of the output, as JSON."""
        done = subprocess.run(
            [TORCH_PYTHON, "-c", "".join(parts), self.folder],
            capture_output=True, text=True, timeout=300, cwd=self.folder,
            env={**os.environ, "PYTHONPATH": PACKAGE, "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"},
        )  # fmt: skip
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def calls(self, *parts):
        return self.run_program(LOG, *parts, "\nprint(json.dumps(log.calls), flush=True); os._exit(0)")

    def recorded_steps(self):
        trace = sqlite3.connect(self.trace)
        self.addCleanup(trace.close)
        return trace.execute("SELECT number, source FROM step ORDER BY id").fetchall()


@needs("torch", "transformers", "accelerate")
class OfTransformers(Programs):
    def test_one_step_for_the_batches_that_accumulate(self):
        calls = self.calls(
            TRAINER,
            "trainer(max_steps=3, gradient_accumulation_steps=2, logging_strategy='steps', logging_steps=1).train()",
        )
        self.assertEqual(calls, ["epoch 0", "step", "loss=", "step", "loss=", "step", "loss=", "train_loss="])

    def test_epochs_evaluations_and_checkpoints(self):
        calls = self.calls(
            TRAINER,
            "trainer(num_train_epochs=2, per_device_train_batch_size=8, eval_strategy='epoch',\n"
            "        save_strategy='epoch').train()",
        )
        epoch = ["step", "step", "eval", "/eval", "eval_loss=", "checkpoint"]
        order = [call for call in calls if call not in ("/eval", "eval_loss=")]
        self.assertEqual(
            order, ["epoch 0", *epoch[:3], "checkpoint", "epoch 1", *epoch[:3], "checkpoint", "train_loss="]
        )
        self.assertEqual(calls.count("eval"), calls.count("/eval"))
        self.assertEqual(calls.count("eval_loss="), 2)

    def test_an_evaluation_that_fails_leaves_no_phase_behind(self):
        calls = self.calls(
            TRAINER,
            "t = trainer(max_steps=1)\n"
            "t.evaluate(); t.callback_handler.on_prediction_step(t.args, t.state, t.control)\n"
            "t.train(); t.predict(data[:2])\n",
        )
        self.assertEqual(
            calls,
            ["eval", "eval_loss=", "/eval", "eval", "/eval", "epoch 0", "step", "train_loss=", "eval", "/eval"],
        )

    def test_a_resumed_training_says_so(self):
        calls = self.calls(
            TRAINER,
            "trainer(max_steps=2, save_strategy='steps', save_steps=2).train()\n"
            "log.calls.clear()\n"
            "trainer(max_steps=3).train(resume_from_checkpoint=True)\n",
        )
        self.assertEqual(calls[0], "resumed after step 2")
        self.assertEqual(calls.count("step"), 1)

    def test_a_recorded_training_has_each_step_once(self):
        self.run_program(
            "import sys, json, tidemark\n" + recording(TRAINER),
            "trainer(max_steps=4, gradient_accumulation_steps=2).train()\n"
            "print(json.dumps(tidemark.stop()))",
        )  # fmt: skip
        self.assertEqual(self.recorded_steps(), [(number, "user") for number in range(4)])

    def test_a_training_that_fails_is_recorded_to_the_end_of_the_program(self):
        self.run_program(
            "import sys, json, tidemark\n" + recording(TRAINER),
            "t = trainer(max_steps=4, eval_strategy='steps', eval_steps=2); t.model.fail = True\n"
            "print(json.dumps('it begins'), flush=True)\nt.train()\n",
            status=1,
        )
        self.assertEqual(self.recorded_steps(), [(number, "user") for number in range(2)])
        trace = sqlite3.connect(self.trace)
        self.addCleanup(trace.close)
        self.assertEqual(
            trace.execute("SELECT how_ended FROM process").fetchall(), [("exception: RuntimeError: no evaluation",)]
        )


class Lightning:
    """Tests for each of the two names of the package."""

    package = ""

    def calls_of(self, code):
        return self.calls(f"PACKAGE = {self.package!r}\n", LIGHTNING, code)

    def test_one_step_for_the_batches_that_accumulate(self):
        calls = self.calls_of(
            "trainer(max_epochs=2, accumulate_grad_batches=2, log_every_n_steps=2).fit(Model(), data)"
        )
        self.assertEqual(calls, ["epoch 0", "step", "step", "loss=", "epoch 1", "step", "step", "loss="])

    def test_validations_and_checkpoints(self):
        calls = self.calls_of(
            "trainer(max_epochs=1, enable_checkpointing=True, num_sanity_val_steps=1).fit(Model(), data, data)"
        )
        self.assertEqual(calls[:2], ["eval", "/eval"], "the sanity check")
        self.assertEqual(calls[2:], ["epoch 0", *["step"] * 4, "eval", "/eval", "val_loss=", "checkpoint"])

    def test_validation_and_prediction_alone(self):
        calls = self.calls_of("trainer().validate(Model(), data, verbose=False); trainer().predict(Model(), data)")
        self.assertEqual(calls, ["eval", "/eval", "val_loss=", "eval", "/eval"])

    def test_an_evaluation_that_fails_leaves_no_phase_behind(self):
        calls = self.calls_of(
            "model = Model(); model.fail = True\n"
            "try:\n    trainer(max_epochs=1).fit(model, data, data)\n"
            "except RuntimeError:\n    log.calls.append('failed')\n"
        )
        self.assertEqual(calls[-3:], ["eval", "/eval", "failed"])

    def test_a_resumed_training_says_so(self):
        calls = self.calls_of(
            "t = trainer(max_epochs=1); t.fit(Model(), data); t.save_checkpoint('half.ckpt'); log.calls.clear()\n"
            "trainer(max_epochs=2).fit(Model(), data, ckpt_path='half.ckpt')\n"
        )
        self.assertEqual(calls[0], "resumed after step 4")
        self.assertEqual(calls.count("step"), 4)

    def test_a_recorded_training_has_each_step_once(self):
        self.run_program(
            f"import sys, json, tidemark\nPACKAGE = {self.package!r}\n",
            recording(LIGHTNING),
            "trainer(max_epochs=1).fit(Model(), data)\nprint(json.dumps(tidemark.stop()))",
        )
        self.assertEqual(self.recorded_steps(), [(number, "user") for number in range(4)])


@needs("torch", "lightning")
class OfLightning(Lightning, Programs):
    package = "lightning.pytorch"


@needs("torch", "pytorch_lightning")
class OfPytorchLightning(Lightning, Programs):
    package = "pytorch_lightning"


@needs("torch", "accelerate")
class OfAccelerate(Programs):
    def test_losses_and_checkpoints(self):
        calls = self.calls(
            ACCELERATE,
            "accelerator.log({'train_loss': torch.tensor(0.5, requires_grad=True), 'lr': 0.1}, step=1)\n"
            "accelerator.save_state('saved'); accelerator.load_state('saved'); accelerator.end_training()\n",
        )
        self.assertEqual(calls, ["train_loss=", "checkpoint", "checkpoint loaded"])

    def test_steps_of_the_optimizer_need_no_report(self):
        self.run_program(
            "import sys, json, tidemark\n" + ACCELERATE,
            "with tidemark.record(sys.argv[1] + '/run.tide', parts=['stacks']):\n"
            "    for _ in range(6):\n"
            "        with accelerator.accumulate(model):\n"
            "            accelerator.backward(model(torch.randn(2, 4)).sum())\n"
            "            optimizer.step(); optimizer.zero_grad()\n"
            "print(json.dumps(True))",
        )
        self.assertEqual(self.recorded_steps(), [(number, "optimizer") for number in range(3)])


METRICS = "import json, sys\nfrom tidemark.integrations import log_metrics, metrics\n"
EXPECTED = {
    "tidemark/peak_allocated_bytes": 89650176,
    "tidemark/peak_reserved_bytes": 90177536,
    "tidemark/growth_per_step_bytes": 8192,
    "tidemark/findings": 1,
}


class Metrics(Programs):
    leak = f"trace = {str(EXAMPLES / 's01_list_of_cpu_outputs.tide')!r}\n"

    def test_are_those_of_the_trace(self):
        self.assertEqual(self.run_program(METRICS, self.leak, "print(json.dumps(metrics(trace)))"), EXPECTED)

    def test_of_the_running_recording_up_to_now(self):
        found = self.run_program(
            METRICS,
            f"sys.path.insert(0, {str(COMMAND_TESTS)!r})\n"
            "import time, tidemark, tidemark._abi as abi\n"
            "from recorded_program import Allocator, recording\n"
            "tidemark.record('run.tide', parts=['stacks'])\n"
            "allocator = Allocator(recording().core, abi)\n"
            "for step in range(8):\n    allocator.allocate(1 << 19, 'keep', 31); tidemark.step()\n"
            "values, end = {}, time.monotonic() + 60\n"
            "while values.get('tidemark/peak_allocated_bytes') != 4 << 20 and time.monotonic() < end:\n"
            "    try:\n        values = metrics()\n    except OSError:\n        time.sleep(0.1)  # not written yet\n"
            "tidemark.stop()\nprint(json.dumps(values))\n",
        )
        self.assertEqual(found["tidemark/peak_allocated_bytes"], 4 << 20)
        self.assertEqual(found["tidemark/growth_per_step_bytes"], 1 << 19)

    def test_unknown_growth_is_missing(self):
        short = str(EXAMPLES / "s06_one_element.tide")
        found = self.run_program(METRICS, f"print(json.dumps(metrics({short!r})))")
        self.assertNotIn("tidemark/growth_per_step_bytes", found)
        self.assertIn("tidemark/peak_reserved_bytes", found)

    def test_failures_have_a_reason(self):
        for call, kind, words in (
            ("metrics('none.tide')", "OSError", "none.tide"),
            ("metrics()", "OSError", "no recording runs"),
            ("log_metrics(trace, to=3)", "TypeError", "int takes no metrics"),
        ):
            text = self.run_program(
                METRICS,
                self.leak,
                f"try:\n    {call}\nexcept Exception as failure:\n"
                "    print(json.dumps(f'{type(failure).__name__}: {failure}'))\n",
            )
            self.assertTrue(text.startswith(kind), text)
            self.assertIn(words, text)

    @needs("torch", "tensorboard")
    def test_to_tensorboard(self):
        found = self.run_program(
            METRICS,
            self.leak,
            "from torch.utils.tensorboard import SummaryWriter\n"
            "with SummaryWriter('runs') as writer:\n    log_metrics(trace, to=writer, step=7)\n"
            "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
            "events = EventAccumulator('runs'); events.Reload()\n"
            "scalars = {tag: events.Scalars(tag)[0] for tag in events.Tags()['scalars']}\n"
            "print(json.dumps({tag: [scalar.step, scalar.value] for tag, scalar in scalars.items()}))\n",
        )
        self.assertEqual(found, {name: [7, value] for name, value in EXPECTED.items()})

    @needs("mlflow")
    def test_to_mlflow(self):
        found = self.run_program(
            METRICS,
            self.leak,
            "import mlflow\nmlflow.set_tracking_uri('sqlite:///runs.db')\n"
            "with mlflow.start_run() as run:\n    log_metrics(trace, step=7)\n"
            "print(json.dumps(mlflow.get_run(run.info.run_id).data.metrics))\n",
        )
        self.assertEqual(found, EXPECTED)

    @needs("wandb")
    def test_to_wandb(self):
        found = self.run_program(
            METRICS,
            self.leak,
            "import wandb\nrun = wandb.init(mode='offline', dir='.', settings=wandb.Settings(silent=True))\n"
            "log_metrics(trace)\n"
            "print(json.dumps({name: run.summary[name] for name in run.summary.keys() if not name.startswith('_')}))\n",
        )
        self.assertEqual(found, EXPECTED)


class Imports(unittest.TestCase):
    def test_no_library_is_imported(self):
        code = "import sys, tidemark.integrations as i; print(*sys.modules)"
        done = subprocess.run(
            [TORCH_PYTHON, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PACKAGE}
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        heavy = {"torch", "transformers", "lightning", "pytorch_lightning", "accelerate", "wandb", "mlflow", "numpy"}
        self.assertEqual(heavy & set(done.stdout.split()), set())


if __name__ == "__main__":
    unittest.main()
