// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Operations whose results tell how large their operands are.
#pragma once

#include <string_view>

namespace tidemark {

/// Without broadcasting, the result of such an op ("aten::mul") has as many elements as its largest operand.
bool is_element_wise(std::string_view op);

/// Joins its operands: the result of such an op ("aten::cat") has as many elements as all of them together.
bool is_join(std::string_view op);

}  // namespace tidemark
