// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/size_limit.h"

#include "storage/base/units.h"

namespace tidemark {

namespace {

constexpr int64_t smallest_limit = 16'000'000;

}  // namespace

Result<int64_t> parse_size_limit(std::string_view text) {
    if (text == "all") {
        return 0;
    }
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes < 0) {
        return usage_error("'{size}' is not a size. Write 2GB, 500MiB or \"all\".", with("size", text));
    }
    if (*bytes > 0 && *bytes < smallest_limit) {
        return usage_error("A trace cannot be kept below {size}; the smallest limit is 16MB.", with("size", text));
    }
    return *bytes;
}

}  // namespace tidemark
