// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/site_watch.h"

#include <algorithm>
#include <utility>

namespace tidemark::recorder {

namespace {

/// Number of rises after which a site counts as growing: fewer happen while a program starts.
constexpr uint32_t fewest_rises = 3;
/// All memory falls when it loses this part (1 / 8) of its height: an iteration has ended. The layers of a slow first
/// iteration rise as well, but before it ends.
constexpr uint64_t least_fall = 8;
constexpr uint64_t fewest_falls = 2;
/// Programs whose iterations free little have no falls: their sites grow for so many periods before they count.
constexpr uint64_t fewest_periods = 20;
/// A site asks for a scan when this much of its memory was never looked for, and as much again as at the last scan.
constexpr uint64_t fewest_bytes = 256 << 10;
/// ... and this fraction of all memory that grows, so that many small sites do not ask one after the other.
constexpr uint64_t smallest_share = 100;

}  // namespace

void SiteWatch::allocated(uint64_t address, uint32_t number, uint64_t bytes) {
    freed(address);  // its free was lost
    Site& site = sites_[number];
    touch(number, site);
    site.live += bytes;
    set_live(live_ + bytes);
    blocks_[address] = {number, bytes, blocks_so_far_++};
}

void SiteWatch::freed(uint64_t address) {
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) {
        return;
    }
    Site& site = sites_[block->second.site];
    touch(block->second.site, site);
    site.live -= block->second.bytes;
    site.lowest = std::min(site.lowest, site.live);
    set_live(live_ - block->second.bytes);
    blocks_.erase(block);
}

void SiteWatch::touch(uint32_t number, Site& site) {
    if (!std::exchange(site.is_touched, true)) {
        touched_.push_back(number);
    }
}

void SiteWatch::set_live(uint64_t bytes) {
    live_ = bytes;
    const bool turns = is_falling_ ? live_ > turn_ + turn_ / least_fall : live_ < turn_ - turn_ / least_fall;
    if (turns) {
        is_falling_ = !is_falling_;
        falls_so_far_ += is_falling_;
    }
    turn_ = turns ? live_ : is_falling_ ? std::min(turn_, live_) : std::max(turn_, live_);
}

bool SiteWatch::grows(const Site& site) const {
    return site.rises >= fewest_rises && site.live > site.level / 2 &&
           (falls_so_far_ - site.falls_before >= fewest_falls ||
            periods_so_far_ - site.periods_before >= fewest_periods);
}

void SiteWatch::end_period() {
    ++periods_so_far_;
    if (touched_.empty()) {
        return;
    }
    for (const uint32_t number : std::exchange(touched_, {})) {
        Site& site = sites_[number];
        site.is_touched = false;
        const bool changed = site.lowest != site.live;
        end_period(site);
        if (changed) {
            touch(number, site);  // what it allocated late in this period counts at the end of the next one
        }
    }
    wants_scan_ = any_wants_scan();
}

void SiteWatch::end_period(Site& site) {
    if (site.lowest > site.level) {
        site.level = site.lowest;
        site.is_level_of_first = falls_so_far_ == 0;
        if (site.rises++ == 0) {
            site.falls_before = falls_so_far_;
            site.periods_before = periods_so_far_;
        }
    } else if (site.lowest < site.level / 2) {
        site.rises = 0;
        if (site.is_level_of_first) {
            site.level = site.lowest;
        }
    }
    site.lowest = site.live;
}

bool SiteWatch::any_wants_scan() const {
    uint64_t all = 0, largest = 0;
    for (const auto& [number, site] : sites_) {
        if (grows(site)) {
            all += site.level;
            if (site.level >= 2 * site.scanned) {
                largest = std::max(largest, site.level - site.scanned);
            }
        }
    }
    return largest >= fewest_bytes && largest >= all / smallest_share;
}

std::vector<uint64_t> SiteWatch::growing_blocks(size_t most) const {
    std::vector<std::pair<uint64_t, uint64_t>> found;  // number, address
    for (const auto& [address, block] : blocks_) {
        if (grows(sites_.at(block.site))) {
            found.emplace_back(block.number, address);
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<uint64_t> addresses;
    const size_t count = std::min(most, found.size());
    for (size_t i = 0; i < count; ++i) {
        addresses.push_back(found[i * found.size() / count].second);
    }
    return addresses;
}

void SiteWatch::scanned() {
    for (auto& [number, site] : sites_) {
        if (grows(site)) {
            site.scanned = site.level;
        }
    }
    wants_scan_ = false;
}

}  // namespace tidemark::recorder
