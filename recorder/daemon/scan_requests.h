// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Requests heap scans from the program while allocation sites grow.
#pragma once

#include <chrono>

#include "recorder/core/ring.h"
#include "recorder/daemon/site_watch.h"

namespace tidemark::recorder {

class ScanRequests {
public:
    /// The program reads requests from `header`.
    explicit ScanRequests(RegionHeader& header) : header_(header) {}

    SiteWatch& sites() { return sites_; }
    /// Ends a period of the sites when it is due, and requests a scan if they want one. The caller calls it often.
    /// `visit_blocks`: visits the blocks of all sites.
    bool update(const SiteWatch::VisitBlocks& visit_blocks);
    /// Handles that the program has made the requested scan.
    void on_scan();

private:
    using Clock = std::chrono::steady_clock;

    void write_blocks(const SiteWatch::VisitBlocks& visit_blocks);

    RegionHeader& header_;
    SiteWatch sites_;
    Clock::time_point last_period_ = Clock::now(), last_written_;
    bool is_pending_ = false;  ///< the program has not made the scan yet
};

}  // namespace tidemark::recorder
