// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The iterations of a device, found on first use.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/explain/iterations.h"

namespace tidemark::gui {

class LazyIterations {
public:
    explicit LazyIterations(std::shared_ptr<const Analysis> analysis) : analysis_(std::move(analysis)) {}
    /// Returns nothing if nothing repeats. Thread: any. The first call computes for a while.
    const Iterations& get() const {
        std::call_once(once_,
                       [this] { found_ = Iterations(analysis_->trace(), analysis_->device(), analysis_->curves()); });
        return found_;
    }

private:
    std::shared_ptr<const Analysis> analysis_;
    mutable std::once_flag once_;
    mutable Iterations found_;
};

}  // namespace tidemark::gui
