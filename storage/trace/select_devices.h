// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Selects devices of a trace by their index.
#pragma once

#include <optional>
#include <vector>

#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns the device with PyTorch's index `wanted`, or every device; never empty. Errors: the trace has no device
/// (input), or not this one (usage).
Result<std::vector<const DeviceHistory*>> select_devices(const Trace& trace, std::optional<int> wanted);

}  // namespace tidemark
