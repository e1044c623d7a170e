// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Why the operating system refused something.
#pragma once

#include "storage/base/sentence.h"

namespace tidemark {

/// Returns what strerror says about an error number, as a sentence where it can be translated. Without a full stop.
SentenceValue system_reason(int error);

}  // namespace tidemark
