// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/element_wise.h"

#include <algorithm>
#include <array>

namespace tidemark {

bool is_element_wise(std::string_view op) {
    static constexpr std::array ops{"aten::add", "aten::sub",         "aten::mul",       "aten::div",     "aten::rsub",
                                    "aten::pow", "aten::where",       "aten::maximum",   "aten::minimum", "aten::atan2",
                                    "aten::eq",  "aten::ne",          "aten::lt",        "aten::le",      "aten::gt",
                                    "aten::ge",  "aten::logical_and", "aten::logical_or"};
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool is_join(std::string_view op) {
    static constexpr std::array ops{"aten::cat", "aten::concat", "aten::stack", "aten::hstack", "aten::vstack"};
    return std::find(ops.begin(), ops.end(), op.substr(0, op.find(' '))) != ops.end();
}

}  // namespace tidemark
