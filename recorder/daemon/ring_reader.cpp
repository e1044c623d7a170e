// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/ring_reader.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

namespace tidemark::recorder {

namespace {

constexpr uint32_t most_rings = 1 << 16;
constexpr uint64_t largest_ring = uint64_t{1} << 28;

}  // namespace

Result<MappedRegion> MappedRegion::map(int file) {
    struct stat about {};
    if (fstat(file, &about) != 0 || about.st_size < static_cast<off_t>(sizeof(RegionHeader))) {
        return environment_error("The shared memory of the program is not there.");
    }
    // Otherwise another process could truncate the memory while it is read, which kills the reader.
    const int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
        return environment_error("The shared memory of the program is not protected against truncation.");
    }
    MappedRegion region;
    region.bytes_ = static_cast<size_t>(about.st_size);
    void* base = mmap(nullptr, region.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (base == MAP_FAILED) {
        return environment_error("The shared memory of the program cannot be mapped.");
    }
    region.base_ = static_cast<std::byte*>(base);
    const RegionHeader& header = region.header();
    region.ring_count_ = header.ring_count;
    region.ring_capacity_ = header.ring_capacity;
    if (header.magic != region_magic || header.version != TIDEMARK_RECORDS_VERSION) {
        return environment_error(
            "The program uses another version of Tidemark than its recorder. Install one version of all parts.");
    }
    if (region.ring_count_ == 0 || region.ring_count_ > most_rings || region.ring_capacity_ == 0 ||
        region.ring_capacity_ > largest_ring || (region.ring_capacity_ & (region.ring_capacity_ - 1)) != 0 ||
        region_bytes(region.ring_count_, region.ring_capacity_) > region.bytes_) {
        return environment_error("The shared memory of the program is damaged.");
    }
    return region;
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept { *this = std::move(other); }

MappedRegion& MappedRegion::operator=(MappedRegion&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(ring_count_, other.ring_count_);
    std::swap(ring_capacity_, other.ring_capacity_);
    return *this;
}

MappedRegion::~MappedRegion() {
    if (base_ != nullptr) {
        munmap(base_, bytes_);
    }
}

RingHeader& MappedRegion::ring(uint32_t index) const {
    return reinterpret_cast<RingHeader*>(base_ + sizeof(RegionHeader))[index];
}

void MappedRegion::sleep_until_woken(std::chrono::nanoseconds longest) const {
    auto& word = header().wake;
    const timespec most{0, static_cast<long>(longest.count())};
    syscall(SYS_futex, &word, FUTEX_WAIT, word.load(std::memory_order_acquire), &most, nullptr, 0);
}

const tidemark_record* MappedRegion::slots(uint32_t index) const {
    return reinterpret_cast<const tidemark_record*>(base_ + slots_offset(ring_count_)) + index * ring_capacity_;
}

uint64_t RingReader::available() {
    const uint64_t head = ring_->head.load(std::memory_order_acquire);
    const uint64_t tail = ring_->tail.load(std::memory_order_relaxed);
    if (head - tail <= 2 * capacity_) {  // positions that were jumped over count
        return head - tail;
    }
    ring_->tail.store(head, std::memory_order_release);
    ++damages_;
    return 0;
}

std::span<const std::byte> RingReader::payload(uint64_t at, const tidemark_record& record) {
    const uint64_t first = at & (capacity_ - 1);
    const auto* bytes = reinterpret_cast<const std::byte*>(slots_ + first);
    if (first + record.extra <= capacity_) {
        return {bytes, record.bytes};
    }
    const size_t until_end = (capacity_ - first) * sizeof(tidemark_record);
    joined_.resize(record.bytes);
    const size_t low = std::min<size_t>(until_end, record.bytes);
    std::memcpy(joined_.data(), bytes, low);
    std::memcpy(joined_.data() + low, slots_, record.bytes - low);
    return joined_;
}

}  // namespace tidemark::recorder
