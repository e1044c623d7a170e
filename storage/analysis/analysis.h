// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The indexes of a device's history, built once after opening.
#pragma once

#include <memory>
#include <mutex>

#include "storage/base/progress.h"
#include "storage/replay/alive_index.h"
#include "storage/replay/statistics.h"
#include "storage/timeline/curves.h"

namespace tidemark {

/// Owns the indexes of one device of one trace and keeps the trace alive. Immutable after construction, except for the
/// statistics, which are built on first use (thread-safe).
class Analysis {
public:
    Analysis(std::shared_ptr<const Trace> trace, const DeviceHistory& device);

    const Trace& trace() const { return *trace_; }
    std::shared_ptr<const Trace> shared_trace() const { return trace_; }
    const DeviceHistory& device() const { return device_; }
    const AliveIndex& live() const { return live_; }
    const Curves& curves() const { return curves_; }
    const Statistics& statistics() const;

private:
    std::shared_ptr<const Trace> trace_;
    const DeviceHistory& device_;
    AliveIndex live_;
    Curves curves_;
    mutable std::once_flag statistics_once_;
    mutable std::unique_ptr<Statistics> statistics_;
};

}  // namespace tidemark
