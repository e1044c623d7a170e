// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/graph_tables.h"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

// In the order of Category.
constexpr std::array<std::string_view, category_count> category_names{
    "unknown", "parameter", "buffer",    "gradient",  "optimizer state", "saved for backward",
    "input",   "output",    "temporary", "workspace", "communication",   "unsharded parameter"};

}  // namespace

std::string_view category_name(Category category) { return category_names[static_cast<size_t>(category)]; }

Category category_from_name(std::string_view name) {
    const auto found = std::find(category_names.begin(), category_names.end(), name);
    return found == category_names.end() ? Category::unknown : static_cast<Category>(found - category_names.begin());
}

}  // namespace tidemark
