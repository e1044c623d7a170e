// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Sentences about data gaps, in the reader's language.
#pragma once

#include <string>

#include "storage/breakdown/breakdown.h"
#include "storage/text/words.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns one or two sentences. Gaps of formats 1 and 2, and gaps with a reason unknown to this version, keep the text
/// of the file.
std::string data_gap_words(const Words& words, const DataGap& data_gap);
std::string breakdown_gap_words(const Words& words, const BreakdownGap& gap);

}  // namespace tidemark
