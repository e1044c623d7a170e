// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Completes and checks columns after reading, so that all other code may rely on them.
#pragma once

#include <memory>

#include "storage/base/result.h"
#include "storage/read/damage.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Checks consistency across rows, reports data gaps (also for `damage` found before), and completes open values: times
/// of events without one, ends of open spans, the duration. Errors: no device; rows refer to missing rows (input).
Result<std::shared_ptr<const Trace>> settled(Trace raw, Damage damage);

}  // namespace tidemark
