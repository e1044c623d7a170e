// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The native stack of a driver call. Only return addresses are read here; the recorder process finds functions and
// lines.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/core/core.h"

namespace tidemark::recorder {

/// The stack of the calling thread, without the frames of CUDA, CUPTI, the C library and the recorder.
class CallStack {
public:
    /// Reads the stack. May throw std::bad_alloc.
    static const CallStack& here();

    /// Returns the file name of the library or program that called CUDA, or the package of a Python extension; empty if
    /// it is unknown.
    const std::string& source() const { return source_; }
    /// Returns the id of the stack in the ring's namespace, and defines it if it is new; 0: it has no frames.
    uint32_t id(const tidemark_api& core, tidemark_ring* ring) const;

private:
    struct Thread;
    static Thread& thread();

    uint64_t key_ = 0;  ///< hash of the return addresses
    std::string source_;
};

/// Loads what a stack needs. The first stack would load libgcc, which allocates and locks.
void prepare_call_stacks();

}  // namespace tidemark::recorder
