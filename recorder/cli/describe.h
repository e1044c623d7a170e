// Phrases that several commands share, and the JSON all of them do.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "storage/base/units.h"
#include "storage/report/json_parts.h"

namespace tidemark::cli {

/// "1 block", "1,234 blocks"
inline std::string counted(int64_t count, std::string_view one) {
    return fmt::format("{} {}{}", format_count(count), one, count == 1 ? "" : "s");
}

inline double share(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// How many of `count` rows to show; a limit of 0 means all.
inline size_t limited(size_t count, size_t limit) { return limit == 0 || limit > count ? count : limit; }
/// "(3 more, --limit 0 shows all)"
inline std::string words_about_rest(size_t left_out) {
    return fmt::format("({} more, --limit 0 shows all)", format_count(static_cast<int64_t>(left_out)));
}
/// The same as a line behind `indent` columns; empty where nothing is left out.
inline std::string rest_text(size_t left_out, int indent) {
    return left_out == 0 ? "" : fmt::format("{:{}}{}\n", "", indent, words_about_rest(left_out));
}

}  // namespace tidemark::cli
