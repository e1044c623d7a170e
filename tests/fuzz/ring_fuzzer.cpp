// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records any bytes as the records of one thread. The recorder must write a trace that opens: a program may be broken,
// but what it did until then is worth reading.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/daemon/recorder.h"
#include "storage/read/open_trace.h"
#include "tests/fuzz/mutator.h"
#include "tests/hostile/dice.h"

namespace {

using namespace tidemark;
using namespace tidemark::recorder;

constexpr uint32_t rings = 1;
constexpr uint64_t capacity = 1 << 14;  // slots
constexpr std::string_view nothing_recorded = "{path} contains no device";

/// The shared memory of a program that has written records and ended.
class EndedProgram {
public:
    EndedProgram(const uint8_t* data, size_t size) : file_(memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
        const size_t bytes = region_bytes(rings, capacity);
        (void)!ftruncate(file_, static_cast<off_t>(bytes));
        void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        const Region region{static_cast<std::byte*>(base)};
        auto* header = new (base) RegionHeader;
        header->ring_count = rings;
        header->ring_capacity = capacity;
        auto* ring = new (&region.ring(0)) RingHeader;
        const size_t records = std::min<size_t>(size / sizeof(tidemark_record), capacity);
        std::memcpy(region.slots(0), data, records * sizeof(tidemark_record));
        ring->serial = 1;
        ring->head.store(records);
        ring->state.store(RingState::retired);
        munmap(base, bytes);
        fcntl(file_, F_ADD_SEALS, region_seals);
    }
    EndedProgram(const EndedProgram&) = delete;
    EndedProgram& operator=(const EndedProgram&) = delete;
    ~EndedProgram() { close(file_); }

    int file() const { return file_; }

private:
    int file_;
};

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Returns whether the trace was written completely.
bool record(int file, const std::string& output) {
    auto region = MappedRegion::map(file);
    require(region.has_value());
    TickClock clock;
    Trace head;
    head.source = "recording of a fuzzer";
    head.start_utc_ns = clock.start_utc_ns();
    auto writer = StreamingWriter::create(output, IfExists::replace, head);
    require(writer.has_value());
    Options options;
    options.output = output;
    options.program = 1;
    const std::atomic<int> stopped{SIGTERM};
    const ProgramFacts program;
    SessionFolder session("", options.program);
    auto place = TracePlace::prepare(output, IfExists::replace);
    require(place.has_value());
    ControlServer control(options.program);
    return tidemark::recorder::Recorder({options, program, *region, clock, session, *place, control},
                                        *std::move(writer))
        .run(stopped)
        .has_value();
}

/// Gives fields of records other values; libFuzzer hardly keeps records whole.
hostile::Mutant mutate_records(std::span<const uint8_t> bytes, uint64_t seed) {
    hostile::Dice dice(seed);
    hostile::Mutant mutant{hostile::Bytes(bytes.begin(), bytes.end()), {}};
    const size_t records = bytes.size() / sizeof(tidemark_record);
    for (uint64_t changes = 1 + dice.below(4); changes > 0 && records > 0; --changes) {
        uint8_t* record = mutant.bytes.data() + dice.below(records) * sizeof(tidemark_record);
        const uint8_t* other = bytes.data() + dice.below(records) * sizeof(tidemark_record);
        const size_t width = dice.pick<size_t>({1, 2, 4, 8});
        const size_t at = dice.below(sizeof(tidemark_record) / width) * width;
        switch (dice.below(4)) {
            case 0: std::memcpy(record, other, sizeof(tidemark_record)); break;
            case 1: std::memcpy(record + at, other + at, width); break;
            default: {
                int64_t value = 0;
                std::memcpy(&value, record + at, width);
                value = dice.extreme(value);
                std::memcpy(record + at, &value, width);
            }
        }
    }
    return mutant;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    setenv("TIDEMARK_WITH", "stacks,ops,modules,driver", 1);  // without nvml: there may be no GPU
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string output = "/dev/shm/tidemark-fuzz-ring-" + std::to_string(getpid()) + ".tide";
    const EndedProgram program(data, size);
    if (record(program.file(), output)) {
        Progress progress;
        const auto trace = open_trace(output, progress);
        if (!trace && !trace.error().sentence.key().starts_with(nothing_recorded)) {
            std::fprintf(stderr, "%s\n", trace.error().sentence.english().c_str());
            std::abort();
        }
    }
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    return tidemark::fuzz::mutate(data, size, most, seed, mutate_records);
}
