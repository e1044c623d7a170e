// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/analysis/analysis.h"

namespace tidemark {

Analysis::Analysis(std::shared_ptr<const Trace> trace, const DeviceHistory& device)
    : trace_(std::move(trace)), device_(device), live_(device.allocations), curves_(device) {}

const Statistics& Analysis::statistics() const {
    std::call_once(statistics_once_, [this] { statistics_ = std::make_unique<Statistics>(*trace_, device_, live_); });
    return *statistics_;
}

}  // namespace tidemark
