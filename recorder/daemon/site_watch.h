// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Watches the live bytes of each allocation site, and decides when a heap scan should look for the blocks of those that
// keep growing. The frames that retain such blocks are alive only while the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace tidemark::recorder {

/// Not thread-safe. Stores sites and no blocks, of which there may be millions.
class SiteWatch {
public:
    struct Block {
        uint64_t address = 0;
        uint32_t site = 0;
        int64_t age = 0;  ///< the oldest has the lowest number
    };
    using VisitBlock = std::function<void(const Block&)>;
    using VisitBlocks = std::function<void(const VisitBlock&)>;

    /// Adds a block of a site, which any number identifies.
    void allocated(uint32_t site, uint64_t bytes);
    /// Requires a block that was added.
    void freed(uint32_t site, uint64_t bytes);

    /// Ends a period. In each period, the smallest number of a site's live bytes counts: memory of one iteration is
    /// gone at some time in it, retained memory is not.
    void end_period();

    /// Returns whether so much has grown since the last scan that another one should follow.
    bool wants_scan() const { return wants_scan_; }
    /// Returns the addresses of at most `most` blocks of the sites that grow, from their oldest to their newest ones.
    /// `visit_blocks`: visits all blocks that were added and not freed, in any order.
    std::vector<uint64_t> growing_blocks(size_t most, const VisitBlocks& visit_blocks) const;
    /// Handles that a scan has looked for the growing blocks.
    void scanned();

private:
    struct Site {
        uint64_t live = 0;                              ///< bytes
        uint64_t lowest = 0;                            ///< live bytes of this period
        uint64_t level = 0;                             ///< highest of all periods' lowest
        uint64_t scanned = 0;                           ///< level at the last scan
        uint32_t rises = 0;                             ///< of the level, since the site last fell below half of it
        uint64_t falls_before = 0, periods_before = 0;  ///< the first of these rises
        bool is_level_of_first = false;                 ///< a slow first iteration is seen higher than the later ones
        bool is_touched = false;
    };
    bool grows(const Site& site) const;
    void touch(uint32_t number, Site& site);
    void set_live(uint64_t bytes);
    void end_period(Site& site);
    bool any_wants_scan() const;

    std::unordered_map<uint32_t, Site> sites_;
    std::vector<uint32_t> touched_;  ///< sites whose bytes changed in this period
    uint64_t periods_so_far_ = 0;
    uint64_t live_ = 0, turn_ = 0;  ///< bytes of all blocks: now, and the highest or lowest since they last turned
    bool is_falling_ = false;
    uint64_t falls_so_far_ = 0;
    bool wants_scan_ = false;
};

}  // namespace tidemark::recorder
