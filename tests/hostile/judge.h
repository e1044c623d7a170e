// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a reading must never do, whatever the file.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/hostile/sandbox.h"

namespace tidemark::hostile {

struct Failure {
    std::string reading;
    std::string cause;  ///< "killed by signal 11", "more than 300 MB: 812 MB"
};

/// What the try on the undamaged file did, and what is allowed.
struct Expectation {
    Try original;
    int64_t most_bytes = 0;
    bool must_not_lie = false;  ///< a different answer needs an error or a data gap
};

std::optional<Failure> judge(std::span<const Reading> readings, const Try& result, const Expectation& expected);

}  // namespace tidemark::hostile
