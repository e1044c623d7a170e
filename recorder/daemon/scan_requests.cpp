// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/scan_requests.h"

namespace tidemark::recorder {

namespace {

/// Longer than most iterations, and short enough for a program of a few seconds.
constexpr auto period = std::chrono::milliseconds(100);
/// The program may make the scan much later, to stay within its limits. It should look for blocks of that time.
constexpr auto rewrite_period = std::chrono::seconds(1);

}  // namespace

bool ScanRequests::update(const SiteWatch::VisitBlocks& visit_blocks) {
    const auto now = Clock::now();
    if (now - last_period_ < period) {
        return false;
    }
    last_period_ = now;
    sites_.end_period();
    if (is_pending_ ? now - last_written_ >= rewrite_period : sites_.wants_scan()) {
        write_blocks(visit_blocks);
        last_written_ = now;
        if (!is_pending_) {
            is_pending_ = true;
            header_.scans_wanted.fetch_add(1, std::memory_order_release);
            return true;
        }
    }
    return false;
}

void ScanRequests::write_blocks(const SiteWatch::VisitBlocks& visit_blocks) {
    const auto blocks = sites_.growing_blocks(most_growing_blocks, visit_blocks);
    for (size_t i = 0; i < blocks.size(); ++i) {
        header_.growing[i].store(blocks[i], std::memory_order_relaxed);
    }
    header_.growing_blocks.store(static_cast<uint32_t>(blocks.size()), std::memory_order_release);
}

void ScanRequests::on_scan() {
    is_pending_ = false;
    sites_.scanned();
}

}  // namespace tidemark::recorder
