// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/recording.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include "recorder/core/callback_cost.h"

namespace tidemark::recorder {

namespace {

/// Numbers the rings of all recordings of the process. A thread that caches what it has sent to a ring compares
/// serials: a ring of a later recording may have the same address.
std::atomic<uint32_t> next_serial{1};

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint32_t ring_count = 128;
constexpr uint64_t default_capacity = uint64_t{1} << 18;
constexpr uint64_t largest_capacity = uint64_t{1} << 24;
constexpr auto longest_wait_for_room = milliseconds(1000);
constexpr auto longest_start = milliseconds(15000);
constexpr int region_fd_of_recorder = 3;

/// Polls every `pause` until the condition holds or `longest` has passed. Returns whether it holds.
template <class Condition>
bool wait_until(Condition&& holds, milliseconds longest, std::chrono::microseconds pause) {
    const auto deadline = Clock::now() + longest;
    while (!holds()) {
        if (Clock::now() >= deadline) {
            return holds();
        }
        std::this_thread::sleep_for(pause);
    }
    return true;
}

/// Starts the recorder process with default signals. It inherits only the shared memory.
class SpawnPlan {
public:
    explicit SpawnPlan(int region_file) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDWR, 0);
        posix_spawn_file_actions_adddup2(&actions_, 0, 1);
        posix_spawn_file_actions_adddup2(&actions_, 0, 2);
        posix_spawn_file_actions_adddup2(&actions_, region_file, region_fd_of_recorder);
        posix_spawn_file_actions_addclosefrom_np(&actions_, region_fd_of_recorder + 1);
        posix_spawnattr_init(&attributes_);
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    int run(pid_t& pid, char* const* arguments) const {
        return posix_spawn(&pid, arguments[0], &actions_, &attributes_, arguments, environ);
    }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// Moves a file above the descriptor that the recorder process uses.
int above_standard_files(int file) {
    if (file > region_fd_of_recorder) {
        return file;
    }
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, region_fd_of_recorder + 1);
    close(file);
    return moved;
}

}  // namespace

Recording* Recording::start(const tidemark_options& options, std::string& sentence) {
    static std::atomic<int> recordings{0};
    auto* recording = new Recording;  // never destroyed: see the header
    recording->number_ = ++recordings;
    if (recording->make_region(options, sentence) && recording->spawn_recorder(options, sentence) &&
        recording->wait_until_ready(sentence)) {
        return recording;
    }
    recording->ended_ = true;
    return nullptr;
}

bool Recording::make_region(const tidemark_options& options, std::string& error) {
    const uint64_t capacity = options.ring_capacity == 0 ? default_capacity : options.ring_capacity;
    if ((capacity & (capacity - 1)) != 0 || capacity < 1024 || capacity > largest_capacity) {
        error = "TIDEMARK_RING_RECORDS must be a power of two from 1024 to 16777216.";
        return false;
    }
    const size_t bytes = region_bytes(ring_count, capacity);
    region_file_ = above_standard_files(memfd_create("tidemark", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    void* base = region_file_ < 0 || ftruncate(region_file_, static_cast<off_t>(bytes)) != 0 ||
                         fcntl(region_file_, F_ADD_SEALS, region_seals) != 0
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, region_file_, 0);
    if (base == MAP_FAILED) {
        error = std::string("shared memory for the recorder could not be allocated: ") + std::strerror(errno) + ".";
        return false;
    }
    region_.base = static_cast<std::byte*>(base);
    auto* header = new (base) RegionHeader;
    header->ring_count = ring_count;
    header->ring_capacity = capacity;
    header->program_pid = getpid();
    for (uint32_t i = 0; i < ring_count; ++i) {
        new (&region_.ring(i)) RingHeader;
    }
    return true;
}

bool Recording::spawn_recorder(const tidemark_options& options, std::string& error) const {
    std::string recorder = options.recorder, output = options.output, pid = std::to_string(getpid());
    std::string region = std::to_string(region_fd_of_recorder), session = options.session ? options.session : "";
    std::string words[] = {"--region", "--output", "--pid", "--session", "--force", "--claim-name"};
    std::vector<char*> arguments{recorder.data(), words[0].data(), region.data(), words[1].data(),
                                 output.data(),   words[2].data(), pid.data()};
    if (!session.empty()) {
        arguments.insert(arguments.end(), {words[3].data(), session.data()});
    }
    if (options.force != 0) {
        arguments.push_back(words[4].data());
    }
    if (options.claims_name != 0) {
        arguments.push_back(words[5].data());
    }
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int failure = SpawnPlan(region_file_).run(child, arguments.data());
    if (failure != 0) {
        error = recorder + " could not be started: " + std::strerror(failure) +
                ". Reinstall Tidemark, or set TIDEMARK_HOME to the folder that holds its recorder.";
        return false;
    }
    // The recorder forks itself away at once: the program's wait() must not see it as a child.
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return true;
}

bool Recording::wait_until_ready(std::string& error) {
    const RegionHeader& header = region_.header();
    const auto state = [&] { return header.recorder_state.load(std::memory_order_acquire); };
    wait_until([&] { return state() != RecorderState::starting; }, longest_start, std::chrono::microseconds(200));
    close(region_file_);
    region_file_ = -1;
    if (state() == RecorderState::ready) {
        error = std::string(header.notice, strnlen(header.notice, sizeof header.notice));
        return true;
    }
    error = state() == RecorderState::failed
                ? std::string(header.failure, strnlen(header.failure, sizeof header.failure))
                : "the recorder process did not become ready.";
    return false;
}

ThreadRing* Recording::claim_ring() {
    for (uint32_t i = 0; i < ring_count; ++i) {
        RingHeader& header = region_.ring(i);
        RingState expected = RingState::free;
        if (header.state.load(std::memory_order_relaxed) == expected &&
            header.state.compare_exchange_strong(expected, RingState::in_use, std::memory_order_acq_rel)) {
            const uint32_t serial = next_serial.fetch_add(1, std::memory_order_relaxed);
            header.serial = serial <= UINT16_MAX ? serial : 0;
            header.native_thread = static_cast<int64_t>(syscall(SYS_gettid));
            auto* ring = new ThreadRing;
            ring->serial = static_cast<uint16_t>(header.serial);
            ring->details_paused = reinterpret_cast<const uint32_t*>(&region_.header().details_paused);
            ring->recording = this;
            ring->header = &header;
            ring->slots = region_.slots(i);
            ring->capacity = region_.header().ring_capacity;
            return ring;
        }
    }
    return nullptr;
}

void Recording::retire(ThreadRing* ring) {
    ring->header->state.store(RingState::retired, std::memory_order_release);
    delete ring;
}

bool Recording::push_slowly(ThreadRing& ring, tidemark_record& record, const void* payload, uint32_t bytes) {
    constexpr uint32_t slot = sizeof(tidemark_record);
    const uint32_t extra = (bytes + slot - 1) / slot;
    if (extra > UINT16_MAX || extra + 1 > ring.capacity) {
        ring.header->dropped.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    record.extra = static_cast<uint16_t>(extra);
    record.bytes = bytes;
    if (record.ticks == 0) {
        record.ticks = ticks();
    }
    for (;;) {
        if (try_push(*ring.header, ring.slots, ring.capacity, record, payload)) {
            ring.congested = false;
            if (ring.waits > 0) {
                report_waits(ring);
            }
            return true;
        }
        if (!wait_for_room(ring, uint64_t{1} + extra)) {
            ring.header->dropped.fetch_add(uint64_t{1} + extra, std::memory_order_relaxed);
            return false;
        }
    }
}

bool Recording::wait_for_room(ThreadRing& ring, uint64_t needed) {
    if (ring.congested || !active()) {
        return false;
    }
    wake_recorder();
    const int64_t begin = monotonic_ns();
    const auto room = [&] {
        const uint64_t used =
            ring.header->head.load(std::memory_order_relaxed) - ring.header->tail.load(std::memory_order_acquire);
        return used + needed <= ring.capacity;
    };
    const bool has_room =
        wait_until([&] { return room() || !active(); }, longest_wait_for_room, std::chrono::microseconds(50));
    const int64_t waited = monotonic_ns() - begin;
    ring.waited += waited;
    ring.longest_wait = std::max(ring.longest_wait, waited);
    ++ring.waits;
    if (has_room) {
        return active();
    }
    ring.congested = true;
    if (recorder_is_gone()) {
        ended_ = true;  // the program continues without it
    }
    return false;
}

/// Makes system calls only: an allocator lock may be held.
bool Recording::recorder_is_gone() const {
    const int32_t pid = region_.header().recorder_pid.load(std::memory_order_relaxed);
    if (pid == 0) {
        return false;
    }
    if (kill(pid, 0) != 0 && errno != EPERM) {
        return true;
    }
    // A process that has ended exists until its parent has waited for it, and in a container nobody may do that.
    std::array<char, 32> path{};
    std::array<char, 512> text{};
    std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
    const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text.data(), text.size() - 1);
    if (file >= 0) {
        close(file);
    }
    const char* state = length > 0 ? std::strrchr(text.data(), ')') : nullptr;  // the name may contain anything
    return state != nullptr && (state[2] == 'Z' || state[2] == 'X');
}

/// Does not wait for room: the next message tries it again.
void Recording::report_waits(ThreadRing& ring) {
    tidemark_record record{};
    record.kind = TIDEMARK_COST;
    record.detail = TIDEMARK_COST_WAIT;
    record.ticks = ticks();
    record.cost.duration_ns = static_cast<uint64_t>(ring.waited);
    record.cost.longest_ns = static_cast<uint64_t>(ring.longest_wait);
    record.cost.count = ring.waits;
    if (try_push(*ring.header, ring.slots, ring.capacity, record, nullptr)) {
        ring.waited = ring.longest_wait = 0;
        ring.waits = 0;
    }
}

uint32_t Recording::text(ThreadRing& ring, std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    if (const uint32_t known = ring.texts.find(text)) {
        return known;
    }
    tidemark_record record{};
    record.kind = TIDEMARK_TEXT;
    record.define.id = ring.texts.next();
    if (!push(ring, record, text.data(), static_cast<uint32_t>(text.size()))) {
        return 0;
    }
    ring.texts.add(text);
    return record.define.id;
}

void Recording::wake_recorder() {
    auto& word = region_.header().wake;
    word.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool Recording::sample_now(uint32_t wait_ms) {
    const uint32_t wanted = region_.header().samples_wanted.fetch_add(1, std::memory_order_release) + 1;
    wake_recorder();
    const auto taken = [&] {
        return static_cast<int32_t>(region_.header().samples_taken.load(std::memory_order_acquire) - wanted) >= 0;
    };
    wait_until([&] { return taken() || !active(); }, milliseconds(wait_ms), std::chrono::microseconds(100));
    return taken();
}

size_t Recording::growing_blocks(std::span<uint64_t> addresses) const {
    const RegionHeader& header = region_.header();
    const size_t written = std::min<size_t>(header.growing_blocks.load(std::memory_order_acquire), most_growing_blocks);
    const size_t count = std::min(written, addresses.size());
    for (size_t i = 0; i < count; ++i) {
        addresses[i] = header.growing[i].load(std::memory_order_relaxed);
    }
    return count;
}

bool Recording::end(uint32_t wait_ms) {
    ended_ = true;
    RegionHeader& header = region_.header();
    header.program_state.store(ProgramState::stopped, std::memory_order_release);
    wake_recorder();
    const auto is_over = [&] {
        const RecorderState state = header.recorder_state.load(std::memory_order_acquire);
        return state == RecorderState::finished || state == RecorderState::failed;
    };
    uint32_t polls = 0;
    const auto is_over_or_gone = [&] { return is_over() || (++polls % 200 == 0 && recorder_is_gone()); };
    wait_until(is_over_or_gone, milliseconds(wait_ms), std::chrono::microseconds(500));
    if (!is_over()) {
        return false;
    }
    // Releases the pages. A thread that still writes gets new ones, which no one reads.
    madvise(region_.slots(0), ring_count * header.ring_capacity * sizeof(tidemark_record), MADV_REMOVE);
    return header.recorder_state.load(std::memory_order_acquire) == RecorderState::finished;
}

}  // namespace tidemark::recorder
