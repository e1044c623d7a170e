// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a trace lacks, in the reader's language.
#pragma once

#include <string>

#include "storage/breakdown/breakdown.h"
#include "storage/text/words.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// One or two sentences. Gaps of formats 1 and 2, and of reasons that this version does not know, keep the file's text.
std::string data_gap_words(const Words& words, const DataGap& data_gap);
std::string breakdown_gap_words(const Words& words, const BreakdownGap& gap);

}  // namespace tidemark
