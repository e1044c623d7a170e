// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The kinds of texts that redaction removes.
#pragma once

#include <cstdint>

namespace tidemark {

/// What a removed text was.
enum class RemovedKind : uint8_t {
    path,          ///< a file or library
    function,      ///< of a stack
    module,        ///< a part of the model, or a parameter
    op,            ///< an operator, node or saved tensor
    variable,      ///< of the program
    mark,          ///< also ranges, phases and streams
    source_line,   ///< of the program
    command_line,  ///< with its arguments
    host,          ///< the name of the computer
    free_text,     ///< an exception, a data gap, the origin of the trace, metadata
    setting,       ///< of the allocator
    time,          ///< of the recording
};

}  // namespace tidemark
