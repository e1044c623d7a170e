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

/// Of many blocks, stores every second, fourth and so on.
class EvenSample {
public:
    void add(const SiteWatch::Block& block) {
        if (count_++ % stride_ != 0) {
            return;
        }
        if (blocks_.size() == most_blocks) {
            for (size_t i = 0; i < most_blocks / 2; ++i) {
                blocks_[i] = blocks_[2 * i];
            }
            blocks_.resize(most_blocks / 2);
            stride_ *= 2;
        }
        blocks_.push_back(block);
    }

    /// Returns the addresses of at most `most` blocks at even distances, from the oldest to the newest one.
    std::vector<uint64_t> by_age(size_t most) {
        std::sort(blocks_.begin(), blocks_.end(), [](const SiteWatch::Block& a, const SiteWatch::Block& b) {
            return std::pair(a.age, a.address) < std::pair(b.age, b.address);
        });
        std::vector<uint64_t> addresses;
        const size_t count = std::min(most, blocks_.size());
        for (size_t i = 0; i < count; ++i) {
            addresses.push_back(blocks_[i * blocks_.size() / count].address);
        }
        return addresses;
    }

private:
    static constexpr size_t most_blocks = 1 << 15;

    std::vector<SiteWatch::Block> blocks_;
    size_t count_ = 0, stride_ = 1;
};

}  // namespace

void SiteWatch::allocated(uint32_t number, uint64_t bytes) {
    Site& site = sites_[number];
    touch(number, site);
    site.live += bytes;
    set_live(live_ + bytes);
}

void SiteWatch::freed(uint32_t number, uint64_t bytes) {
    Site& site = sites_[number];
    touch(number, site);
    site.live -= bytes;
    site.lowest = std::min(site.lowest, site.live);
    set_live(live_ - bytes);
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

std::vector<uint64_t> SiteWatch::growing_blocks(size_t most, const VisitBlocks& visit_blocks) const {
    EvenSample sample;
    visit_blocks([&](const Block& block) {
        const auto site = sites_.find(block.site);
        if (site != sites_.end() && grows(site->second)) {
            sample.add(block);
        }
    });
    return sample.by_age(most);
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
