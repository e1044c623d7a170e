# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The scripts of `tidemark completion`, in the shells themselves."""

import os
import pty
import re
import shlex
import shutil
import subprocess
import unittest

from support import TIDEMARK, USAGE, CommandTest, run

BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tidemark
printf '%s\\n' "${COMPREPLY[@]}"
"""


def commands():
    listed = run("--help").stdout.split("Commands:")[1].split("Example:")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


class Completion(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "run one.tide").touch()
        self.scripts = {}
        for shell in ("bash", "zsh", "fish"):
            self.scripts[shell] = self.folder / f"script.{shell}"
            self.scripts[shell].write_text(self.run_fine("completion", shell))

    def offered_by_bash(self, *words):
        done = subprocess.run(
            ["bash", "--norc", "-c", BASH, "bash", self.scripts["bash"], "tidemark", *words],
            capture_output=True, text=True, cwd=self.folder, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def test_bash_offers_commands_options_values_and_files(self):
        self.assertEqual(set(self.offered_by_bash("")), set(commands()))
        self.assertEqual(self.offered_by_bash("che"), ["check"])
        self.assertEqual(self.offered_by_bash("check", "--max-p"), ["--max-peak"])
        self.assertIn("--baseline", self.offered_by_bash("check", "run.tide", "--"))
        self.assertEqual(self.offered_by_bash("check", "--format", ""), ["text", "json", "markdown"])
        self.assertEqual(self.offered_by_bash("--language", "zh"), ["zh_CN"])
        self.assertEqual(self.offered_by_bash("explain", "run"), ["run one.tide"])
        self.assertEqual(self.offered_by_bash("explain", "-o", "run"), ["run one.tide"])
        self.assertEqual(self.offered_by_bash("completion", ""), ["bash", "zsh", "fish"])

    def test_bash_offers_programs_after_two_dashes(self):
        self.assertIn("bash", self.offered_by_bash("record", "-o", "x.tide", "--", "bas"))
        self.assertEqual(self.offered_by_bash("record", "--", "cat", "run"), ["run one.tide"])

    def test_bash_uses_the_script_as_users_load_it(self):
        code = f'eval "$({shlex.quote(TIDEMARK)} completion bash)"; complete -p tidemark'
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "complete -F _tidemark tidemark\n")

    def test_every_command_and_option_is_in_every_script(self):
        for name in commands():
            options = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run(name, "--help").stdout, re.MULTILINE))
            self.assertIn("--help", options)
            self.assertLessEqual(options, set(self.offered_by_bash(name, "--")), name)
            for shell in ("zsh", "fish"):
                script = self.scripts[shell].read_text()
                self.assertRegex(script, rf"\b{name}\b")
                for option in options:
                    self.assertIn(option if shell == "zsh" else f"-l {option[2:]} ", script)

    def test_hidden_options_are_not_offered(self):
        self.assertNotIn("--session", self.offered_by_bash("record", "--"))

    def test_unknown_shells_are_refused(self):
        self.assertIn("bash", self.run_failing(USAGE, "completion", "tcsh"))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        def offered(line):
            code = f"source {shlex.quote(str(self.scripts['fish']))}; complete -C {shlex.quote(line)}"
            done = subprocess.run(
                ["fish", "--no-config", "-c", code], capture_output=True, text=True, cwd=self.folder, timeout=60
            )
            self.assertEqual(done.stderr, "")
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertEqual(set(offered("tidemark ")), set(commands()))
        self.assertEqual(offered("tidemark check --max-pea"), ["--max-peak"])
        self.assertEqual(offered("tidemark check --format m"), ["markdown"])
        self.assertEqual(offered("tidemark completion z"), ["zsh"])
        self.assertIn("run one.tide", [name.replace("\\ ", " ") for name in offered("tidemark explain run")])
        self.assertIn("bash", offered("tidemark record -o x.tide -- bas"))
        self.assertIn("run one.tide", [name.replace("\\ ", " ") for name in offered("tidemark record -- cat run")])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        for line, expected in (
            ("tidemark breakd\t", "tidemark breakdown "),
            ("tidemark check --max-pea\t", "tidemark check --max-peak "),
            ("tidemark check --format m\t", "tidemark check --format markdown "),
            ("tidemark explain run\t", "tidemark explain run\\ one.tide "),
            ("tidemark completion z\t", "tidemark completion zsh "),
            ("tidemark record -o x.tide -- mkfif\t", "tidemark record -o x.tide -- mkfifo "),
            ("tidemark record -- cat run\t", "tidemark record -- cat run\\ one.tide "),
        ):
            with self.subTest(line):
                self.assertEqual(self.completed_by_zsh(line), expected)

    def completed_by_zsh(self, line):
        """Types a line into a zsh. Returns what the line has become."""
        out = self.folder / "line"
        out.unlink(missing_ok=True)
        (self.folder / ".zshrc").write_text(
            "autoload -Uz compinit; compinit -u -D; PS1='ready> '; unsetopt ZLE_BRACKETED_PASTE 2>/dev/null\n"
            f"source {shlex.quote(str(self.scripts['zsh']))}\n"
            f"keep() {{ print -r -- $BUFFER > {shlex.quote(str(out))}.new; mv {shlex.quote(str(out))}.new "
            f"{shlex.quote(str(out))}; BUFFER=exit; zle accept-line }}\n"
            "zle -N keep; bindkey '^X' keep\n"
        )
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.environ |= {"ZDOTDIR": str(self.folder), "TERM": "dumb", "HOME": str(self.folder)}
            os.execvp("zsh", ["zsh", "-i"])
        shown = b""
        typed = False
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
            if not typed and b"ready> " in shown:
                typed = True
                os.write(terminal, line.encode() + b"\x18")
        os.close(terminal)
        os.waitpid(process, 0)
        self.assertTrue(out.exists(), shown)
        return out.read_text().removesuffix("\n")


if __name__ == "__main__":
    unittest.main()
