// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The request came from code of a library that accumulates or copies tensors, and whose API can avoid it.
#include "storage/base/units.h"
#include "storage/explain/library_advice.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

void oom_advice::library_api(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const auto fix = library_fix_of_request(oom.context().trace(), words, oom.oom().stack);
    if (!fix) {
        return;
    }
    int64_t bytes = 0;
    for (const AllocationIndex a : oom.alive()) {
        const auto other = library_fix_of_request(oom.context().trace(), words, oom.allocations().stack[a]);
        bytes += other && other->text == fix->text ? oom.bytes(a) : 0;
    }
    if (bytes == 0) {
        add_fix(answer, fix->text, fix->code);
        return;
    }
    add_fix(answer, oom, words, fix->text, fix->code, bytes);
}

}  // namespace tidemark
