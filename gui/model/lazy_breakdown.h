// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory breakdown of an analysis, made on first use.
#pragma once

#include <memory>
#include <mutex>

#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

class LazyBreakdown {
public:
    explicit LazyBreakdown(std::shared_ptr<const Analysis> analysis) : analysis_(std::move(analysis)) {}
    /// Thread: any. The first call computes for a while.
    const Breakdown& get() const {
        std::call_once(once_, [this] { breakdown_ = std::make_unique<const Breakdown>(analysis_); });
        return *breakdown_;
    }
    const Analysis& analysis() const { return *analysis_; }

private:
    std::shared_ptr<const Analysis> analysis_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<const Breakdown> breakdown_;
};

}  // namespace tidemark::gui
