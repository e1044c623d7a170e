// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/python_options.h"

#include <gtest/gtest.h>

namespace tidemark::recorder {
namespace {

TEST(PythonOptions, InterpretersAreKnownByTheirName) {
    EXPECT_TRUE(is_python("python"));
    EXPECT_TRUE(is_python("/usr/bin/python3.12"));
    EXPECT_FALSE(is_python("/opt/python/bin/torchrun"));
    EXPECT_FALSE(is_python(""));
}

TEST(PythonOptions, OptionsAgainstTheHookAreFound) {
    EXPECT_EQ("-I", option_against_hook({"python", "-I", "train.py"}));
    EXPECT_EQ("-S", option_against_hook({"python", "-u", "-S", "train.py"}));
    EXPECT_EQ("-E", option_against_hook({"python", "-sE", "train.py"}));
    EXPECT_EQ("-I", option_against_hook({"python", "-W", "ignore", "-X", "dev", "-I", "-c", "pass"}));
    EXPECT_EQ("-I", option_against_hook({"python", "-Wignore", "--check-hash-based-pycs", "-Im", "train"}));
}

TEST(PythonOptions, OptionsOfTheProgramDoNotCount) {
    EXPECT_EQ("", option_against_hook({}));
    EXPECT_EQ("", option_against_hook({"python"}));
    EXPECT_EQ("", option_against_hook({"python", "train.py", "-I"}));
    EXPECT_EQ("", option_against_hook({"python", "-m", "train", "-S"}));
    EXPECT_EQ("", option_against_hook({"python", "-cI", "-S"}));
    EXPECT_EQ("", option_against_hook({"python", "-XI", "-WS", "train.py"}));
    EXPECT_EQ("", option_against_hook({"python", "-", "-I"}));
}

}  // namespace
}  // namespace tidemark::recorder
