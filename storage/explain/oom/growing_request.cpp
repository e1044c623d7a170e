// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A line whose requests grow with each call, as a matrix of all points does when points are added. Nothing stays, so
// this is no leak, and no setting helps for long.
#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {
namespace {

constexpr ptrdiff_t most_named = 3;

}  // namespace

void oom_advice::growing_request(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const std::vector<uint64_t>& sizes = oom.growing_requests();
    // A leak explains larger and larger tensors by what they collect.
    if (sizes.empty() || !oom.context().suspects().empty()) {
        return;
    }
    std::vector<std::string> last;
    std::transform(sizes.end() - std::min(std::ssize(sizes), most_named), sizes.end(), std::back_inserter(last),
                   [](uint64_t size) { return format_bytes(static_cast<int64_t>(size)); });
    answer.text.push_back(
        words("The requests of this line grow: {sizes} before, and now {asked}. If they go on to "
              "grow, a higher limit or another setting only delays the error.",
              with("sizes", words.list(last)), with("asked", format_bytes(oom.analysis().requested()))));
}

}  // namespace tidemark
