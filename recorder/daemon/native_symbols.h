// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the functions and lines of native code by the debug information and symbols of its file. Reads local files
// only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tidemark::recorder {

/// Without debug information, `function` ends with the offset in it ("solve(int)+0x1f"), `file` is the program or
/// library, and `line` is 0.
struct NativeFrame {
    std::string function, file;
    int line = 0;
};

class NativeSymbols {
public:
    NativeSymbols();
    ~NativeSymbols();

    /// Returns the functions at an offset (as in the symbol table) of a file, innermost first: those that are inlined
    /// there, and the one that contains them. Returns a frame without a name but with the offset if none is known.
    const std::vector<NativeFrame>& at(const std::string& object, uint64_t offset);

private:
    struct Object;

    std::vector<NativeFrame> find(const std::string& path, uint64_t offset);

    std::map<std::string, std::unique_ptr<Object>> objects_;
    std::map<std::pair<std::string, uint64_t>, std::vector<NativeFrame>> known_;
};

/// Removes frames that belong to CUDA's runtime or to the start of the program, as far as other frames remain. The
/// runtime may be linked into the program.
void leave_out_runtime(std::vector<NativeFrame>& frames);

}  // namespace tidemark::recorder
