// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The events of a PyTorch snapshot. Internal to storage/convert.
#pragma once

#include "storage/convert/snapshot_parts.h"

namespace tidemark {

/// Writes the list of a device's events, oldest first.
void write_snapshot_events(const Trace& trace, const DeviceHistory& device, PickleWriter& pickle, SnapshotParts& parts);

}  // namespace tidemark
