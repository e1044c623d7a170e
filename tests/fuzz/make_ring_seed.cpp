// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// make_ring_seed FILE: writes a seed of ring_fuzzer, the records of a small simulated program. Run it again when the
// layout of records changes.
#include <fstream>

#include "tests/recorder/simulated_program.h"

using namespace tidemark;

namespace {

void run_program(test::SimulatedThread& thread) {
    thread.device(0, "Simulated GPU", 1 << 30);
    thread.meta("torch", "2.8.0");
    thread.name_module(0x1000, "layers.0");
    test::SimulatedAllocator allocator(0);
    allocator.report_state(thread, TIDEMARK_STATE_START);
    const uint32_t stack = thread.stack({{"forward", 10}, {"main", 42}}, 0x1000);
    const test::EventContext context{stack, thread.op(TIDEMARK_SCOPE_OP, "aten::mul", 0), 0, TIDEMARK_PHASE_FORWARD};
    for (uint64_t step = 0; step < 3; ++step) {
        const uint64_t kept = allocator.allocate(thread, 1 << 20, context);
        const uint64_t freed = allocator.allocate(thread, 3000, context);
        test::NodeMessage node;
        node.id = static_cast<uint32_t>(step) + 1;
        node.output = allocator.memory(kept);
        node.saved = {thread.saved("self", allocator.memory(kept), 1 << 20)};
        node.edges = {{static_cast<uint32_t>(step), 0, 0}};
        thread.node(node);
        thread.label(TIDEMARK_CATEGORY_PARAMETER, allocator.memory(kept), "weight");
        allocator.free(thread, freed, step == 1, context);
        thread.node_run(node.id, step == 2);
        thread.step(step, true);
    }
    thread.heap_scan("end", 100, 3);
    thread.referrer(1, {}, {{"frame", "main", "main", "train.py", 42}, {"item", "losses", "", "", 0}});
    thread.node_destroyed(2);
    allocator.empty_cache(thread);
    allocator.report_state(thread, TIDEMARK_STATE_CHECK);
    thread.end(TIDEMARK_END_EXITED);
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) {
        return 2;
    }
    test::SimulatedProgram program({1, 1 << 12});
    test::SimulatedThread thread(program, 1, 1);
    run_program(thread);
    std::ofstream(words[1], std::ios::binary)
        .write(reinterpret_cast<const char*>(program.region().slots(0)),
               static_cast<std::streamsize>(thread.header().head.load() * sizeof(tidemark_record)));
    return 0;
}
