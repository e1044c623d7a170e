// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The catalogs of resources/translations, compiled by msgfmt and embedded by translations.cmake.
#pragma once

#include <string_view>

namespace tidemark {

/// Returns the bytes of zh_CN.mo.
std::string_view zh_cn_catalog();

}  // namespace tidemark
