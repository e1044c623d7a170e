# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Errors are sentences in the reader's language."""

import os
import re
import unittest

from support import ENVIRONMENT, INPUT, USAGE, CommandTest, generated_snapshot, run, snapshot

CHINESE = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"\b(the|is|are|not|there|of|to|cannot|required|expected|value)\b", re.IGNORECASE)


class ChineseErrors(CommandTest):
    def chinese(self, status, *arguments):
        """Fails with that status and a sentence that is all Chinese; returns it."""
        sentence = self.run_failing(status, "--language", "zh_CN", *arguments)
        self.assertRegex(sentence, CHINESE)
        self.assertNotRegex(sentence.replace(str(self.folder), ""), ENGLISH)
        return sentence

    def test_files_that_cannot_be_read(self):
        self.assertIn("没有那个文件或目录", self.chinese(ENVIRONMENT, "info", self.folder / "none.tide"))
        self.assertIn("无法打开", self.chinese(ENVIRONMENT, "import", self.folder / "none.pickle"))
        self.assertIn("是文件夹", self.chinese(INPUT, "info", self.folder))
        self.assertIn("PyTorch 快照", self.chinese(INPUT, "info", snapshot("s1_plain")))

    def test_files_of_another_kind(self):
        text = self.folder / "text.tide"
        text.write_text("hello\n" * 100)
        self.assertIn("不是 Tidemark 记录文件", self.chinese(INPUT, "info", text))
        self.assertIn("文本文件", self.chinese(INPUT, "import", text))

    def test_truncated_files(self):
        trace = self.imported("s1_plain")
        os.truncate(trace, trace.stat().st_size // 2)
        self.assertIn("已损坏", self.chinese(INPUT, "info", trace))
        cut = self.folder / "cut.pickle"
        cut.write_bytes(generated_snapshot()[:-200])
        self.assertIn("在快照中途结束", self.chinese(INPUT, "import", cut))

    def test_files_that_cannot_be_written(self):
        trace = self.imported("s1_plain")
        self.assertIn("--force 会替换它", self.chinese(USAGE, "import", snapshot("s1_plain"), "-o", trace))
        away = self.folder / "none" / "out.tide"
        self.assertIn("无法写入", self.chinese(ENVIRONMENT, "import", snapshot("s1_plain"), "-o", away))

    def test_time_points_and_groups(self):
        trace = self.imported("s1_plain")
        for at, part in (
            ("noon", "不是时间点"),
            ("event:x", "不是事件编号"),
            ("event:99999999", "没有事件 99999999"),
            ("time:soon", "不是时间"),
            ("time:1000000s", "没有内容"),
            ("mark:none", "没有标记或标注“none”"),
        ):
            self.assertIn(part, self.chinese(USAGE, "stats", trace, "--at", at))
        self.assertIn("不是显存的分组方式", self.chinese(USAGE, "top", trace, "--by", "colour"))
        self.assertIn("没有设备 7", self.chinese(USAGE, "stats", trace, "--device", "7"))
        self.assertIn("无法脱敏", self.chinese(USAGE, "share", trace, "-o", "x.tide", "--redact", "faces"))
        self.assertIn(
            "之间没有事件", self.chinese(USAGE, "share", trace, "-o", "x.tide", "--from", "end", "--to", "event:1")
        )


class CommandLine(CommandTest):
    wrong = (
        ((), "A command is required.", "缺少命令。"),
        (("improt",), "There is no command improt; there is import.", "没有命令 improt；有 import。"),
        (("bogus",), "There is no command bogus.", "没有命令 bogus。"),
        (("import",), "SNAPSHOT is required.", "缺少必需的 SNAPSHOT。"),
        (("info", "a.tide", "--fast"), "Unexpected arguments: --fast.", "多余的参数：--fast。"),
        (
            ("info", "a.tide", "--format", "pdf"),
            "--format: pdf is not one of text,json.",
            "不在可选值 text,json 之中。",
        ),
        (("stats", "a.tide", "--device", "x"), '--device: "x" is not a valid value.', "--device：“x”不是有效的值。"),
        (("stats", "a.tide", "--at"), "--at needs a value.", "--at 需要一个值。"),
        (("stats", "a.tide", "--at", "1", "--at", "2"), "--at is given more than once.", "--at 给出了不止一次。"),
        (("diff", "a", "--steps", "1:2", "--at-a", "1"), "--at-a excludes --steps.", "不能与 --steps 同时使用。"),
        (("render", "a", "-o", "a.gif"), '"a.gif" is not the name of a picture', "--output：“a.gif”不是图片"),
    )

    def test_errors_are_sentences_of_both_languages(self):
        for arguments, english, chinese in self.wrong:
            with self.subTest(arguments=arguments):
                sentence = self.run_failing(USAGE, *arguments)
                self.assertIn(english, sentence)
                self.assertIn("\nRun with --help for more information.", sentence)
                sentence = self.run_failing(USAGE, "--language", "zh_CN", *arguments)
                self.assertIn(chinese, sentence)
                self.assertIn("\n更多信息请使用 --help。", sentence)

    def test_the_locale_is_the_language(self):
        result = run("info", "none.tide", env={**os.environ, "LC_ALL": "zh_CN.UTF-8"})
        self.assertEqual(result.returncode, ENVIRONMENT)
        self.assertRegex(result.stderr, CHINESE)


if __name__ == "__main__":
    unittest.main()
