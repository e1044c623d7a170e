// Limits of memory, and whether a run kept them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorder/cli/explained.h"

namespace tidemark::cli {

/// As the command line has them; sizes as parse_bytes takes them, empty where not given.
struct Limits {
    std::string peak, reserved, growth;
    std::vector<std::string> findings;  ///< verdicts and kinds
};

/// Errors: none given, what is no size, what is no finding.
Status check_limits(const Limits& limits);

enum class Outcome : uint8_t { holds, broken, unknown };

/// One limit against one device.
struct Verified {
    std::string name;  ///< of the option: "max-peak"
    Outcome outcome = Outcome::holds;
    std::optional<int64_t> allowed, value;  ///< bytes
    std::string reason;                     ///< one sentence
    std::vector<std::string> details;       ///< what causes it, a line each
    std::string line, referrer;               ///< of the largest cause; empty where not known
    std::vector<std::string> findings;      ///< kinds that were found
};

/// The limits that are given, in their order; they were checked.
std::vector<Verified> verify(const Explained& device, const Limits& limits);

}  // namespace tidemark::cli
