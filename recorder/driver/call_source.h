// Who asked: the shared object whose code called into CUDA.
#pragma once

#include <string>

namespace tidemark::recorder {

/// Basename of the innermost object on this thread's native stack that is neither CUDA, CUPTI, the C library nor
/// Tidemark ("libc10_cuda.so"; "python3.12" when the program did it itself); empty when the stack cannot be walked.
std::string call_source();

/// Walking loads libgcc_s the first time, which must not happen inside a driver call.
void prepare_call_source();

}  // namespace tidemark::recorder
