// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the shared object whose code called into CUDA.
#pragma once

#include <string>

namespace tidemark::recorder {

/// Returns the basename of the innermost object on this thread's native stack that is not part of CUDA, CUPTI, the C
/// library or Tidemark ("libc10_cuda.so"; "python3.12" for the program itself); empty when the stack cannot be walked.
std::string call_source();

/// Loads libgcc_s, which call_source() needs, because no library may be loaded inside a driver call.
void prepare_call_source();

}  // namespace tidemark::recorder
