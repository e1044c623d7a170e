// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/judge.h"

#include <fmt/format.h>

#include <csignal>

#include "storage/base/exit_status.h"

namespace tidemark::hostile {

namespace {

/// The line that says what happened: of a sanitizer or an assertion, else the last one.
std::string essence(const std::string& errors) {
    for (const char* word : {"ERROR: AddressSanitizer", "runtime error:", "Assertion", "what():"}) {
        if (const size_t at = errors.find(word); at != std::string::npos) {
            return errors.substr(at, std::min<size_t>(errors.find('\n', at) - at, 200));
        }
    }
    return {};
}

std::string end_of(const Try& result) {
    if (result.signal == SIGPROF || result.signal == SIGALRM) {
        return result.signal == SIGPROF ? "hangs: too much CPU time" : "hangs: waits";
    }
    const std::string how = result.signal != 0 ? fmt::format("killed by signal {}", result.signal)
                                               : fmt::format("ended its process with status {}", result.exit_status);
    const std::string said = essence(result.errors);
    return said.empty() ? how : fmt::format("{}: {}", how, said);
}

bool is_documented(const Reading& reading, int status) {
    return status == exit_success || status == exit_usage || status == exit_input ||
           (status == exit_limit && reading.name.starts_with("check"));
}

std::string fault_of(const Reading& reading, const Outcome& outcome) {
    if (!is_documented(reading, outcome.status)) {
        return fmt::format("exit status {}", outcome.status);
    }
    const bool failed = outcome.status == exit_usage || outcome.status == exit_input;
    return failed && outcome.silent ? fmt::format("exit status {} without a message", outcome.status) : "";
}

bool lies(const Outcome& outcome, const Outcome& original) {
    return outcome.status == exit_success && original.status == exit_success &&
           outcome.output_hash != original.output_hash;
}

}  // namespace

std::optional<Failure> judge(std::span<const Reading> readings, const Try& result, const Expectation& expected) {
    const size_t begun = result.outcomes.size();
    const std::string last = begun == 0 ? "the start" : readings[begun - 1].name;
    if (result.signal != 0 || result.exit_status != 0) {
        return Failure{last, end_of(result)};
    }
    if (result.grown_bytes > expected.most_bytes) {
        return Failure{"all readings", fmt::format("more than {} MB of memory: {} MB", expected.most_bytes >> 20,
                                                   result.grown_bytes >> 20)};
    }
    const bool silent = expected.must_not_lie && !result.reported.changed &&
                        result.reported.data_gaps <= expected.original.reported.data_gaps;
    for (size_t i = 0; i < begun; ++i) {
        if (const std::string fault = fault_of(readings[i], result.outcomes[i]); !fault.empty()) {
            return Failure{readings[i].name, fault};
        }
        if (silent && readings[i].answers && i < expected.original.outcomes.size() &&
            lies(result.outcomes[i], expected.original.outcomes[i])) {
            return Failure{readings[i].name, "another answer without a data gap"};
        }
    }
    return std::nullopt;
}

}  // namespace tidemark::hostile
