// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/native_symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tidemark::recorder {

namespace {

char* no_debug_path = nullptr;  // the standard folders of separate debug information

const Dwfl_Callbacks callbacks{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                               &no_debug_path};

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                           std::free);
    return status == 0 ? std::string(text.get()) : std::string(name);
}

std::string name_of(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        if (const char* name = dwarf_formstring(dwarf_attr_integrate(&die, kind, &attribute)); name != nullptr) {
            return demangled(name);
        }
    }
    const char* name = dwarf_diename(&die);
    return name == nullptr ? std::string() : name;
}

/// Returns the path of a source file, which may be relative to the folder where the compiler ran.
std::string source_path(Dwarf_Die& unit, const char* file) {
    Dwarf_Attribute attribute;
    const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    if (file == nullptr) {
        return {};
    }
    return (std::filesystem::path(folder == nullptr ? "" : folder) / file).lexically_normal().string();
}

/// The lines of one place, from the innermost inlined function to the function that contains all.
class InlinedFrames {
public:
    InlinedFrames(Dwarf_Die& unit, const char* file, int line)
        : unit_(unit), file_(source_path(unit, file)), line_(line) {}

    void add(Dwarf_Die& scope) {
        const int tag = dwarf_tag(&scope);
        if (is_complete_ || (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)) {
            return;
        }
        frames_.push_back({name_of(scope), file_, line_});
        if (tag == DW_TAG_inlined_subroutine) {
            move_to_call(scope);
        } else {
            is_complete_ = true;
        }
    }
    std::vector<NativeFrame> take() { return std::move(frames_); }

private:
    void move_to_call(Dwarf_Die& inlined) {
        Dwarf_Attribute attribute;
        Dwarf_Word line = 0, file = 0;
        dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line);
        Dwarf_Files* files = nullptr;
        size_t count = 0;
        if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) == 0 &&
            dwarf_getsrcfiles(&unit_, &files, &count) == 0 && file < count) {
            file_ = source_path(unit_, dwarf_filesrc(files, file, nullptr, nullptr));
        }
        line_ = static_cast<int>(line);
    }

    Dwarf_Die& unit_;
    std::string file_;
    int line_;
    bool is_complete_ = false;
    std::vector<NativeFrame> frames_;
};

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return text.starts_with(b); });
}

/// C++ names have arguments, so a function of the program is not taken for one of CUDA's C functions.
bool is_of_cuda_runtime(std::string_view function) {
    constexpr std::array<std::string_view, 3> beginnings{"libcudart_static_", "__cuda", "cudart"};
    const bool is_api = function.starts_with("cuda") && function.size() > 4 &&
                        std::isupper(static_cast<unsigned char>(function[4])) != 0 &&
                        function.find('(') == std::string_view::npos;
    return is_api || starts_with_any(function, beginnings);
}

bool is_start(std::string_view function) {
    constexpr std::array<std::string_view, 4> names{"_start", "__libc_start_main", "start_thread", "__clone"};
    return starts_with_any(function, names);
}

/// The functions of one file, by address. dwfl_module_addrinfo() reads all symbols for each address: 12 ms in a library
/// with half a million, during which nobody reads the rings.
class SymbolTable {
public:
    /// Keeps a reference to the module.
    explicit SymbolTable(Dwfl_Module* module) : module_(module) {
        const int count = dwfl_module_getsymtab(module);
        for (int i = 0; i < count; ++i) {
            GElf_Sym symbol;
            GElf_Addr address = 0;
            GElf_Word section = 0;
            if (dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr) != nullptr &&
                is_code(symbol, section)) {
                const auto size = static_cast<uint32_t>(std::min<uint64_t>(symbol.st_size, UINT32_MAX));
                functions_.push_back({address, size, i});
            }
        }
        functions_.shrink_to_fit();
        std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
            return std::pair(a.address, a.index) < std::pair(b.address, b.index);
        });
    }

    /// Returns "name+0x1f" of the function that contains the address; "" if none does, or it has no name. A function
    /// without a size, such as one in assembler, ends where the next one begins.
    std::string name_at(uint64_t address) const {
        const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                            [](uint64_t wanted, const Function& f) { return wanted < f.address; });
        const auto before = std::make_reverse_iterator(after);
        const auto last = before + std::min<std::ptrdiff_t>(most_nested, functions_.rend() - before);
        const auto contains = [&](const Function& f) { return address - f.address < f.size; };
        auto found = std::find_if(before, last, contains);
        if (found == last && before != last && before->size == 0 && address < end_of_section(*before)) {
            found = before;
        }
        return found == last ? std::string() : named(*found, address);
    }

private:
    static constexpr std::ptrdiff_t most_nested = 32;  ///< symbols that begin inside of a function

    struct Function {
        uint64_t address;
        uint32_t size;
        int32_t index;  ///< of the symbol; global ones follow local ones
    };

    static bool is_code(const GElf_Sym& symbol, GElf_Word section) {
        const auto type = GELF_ST_TYPE(symbol.st_info);
        return section != SHN_UNDEF && section != SHN_ABS && (type == STT_FUNC || type == STT_GNU_IFUNC);
    }

    /// Returns the address of the end of the function's section; 0: unknown.
    uint64_t end_of_section(const Function& function) const {
        GElf_Sym symbol;
        GElf_Addr address = 0, bias = 0;
        GElf_Word section = 0;
        GElf_Shdr header;
        Elf* elf = nullptr;
        if (dwfl_module_getsym_info(module_, function.index, &symbol, &address, &section, &elf, &bias) == nullptr ||
            gelf_getshdr(elf_getscn(elf, section), &header) == nullptr) {
            return 0;
        }
        return header.sh_addr + header.sh_size + bias;
    }

    std::string named(const Function& function, uint64_t address) const {
        GElf_Sym symbol;
        GElf_Addr begin = 0;
        const char* name = dwfl_module_getsym_info(module_, function.index, &symbol, &begin, nullptr, nullptr, nullptr);
        return name == nullptr || *name == 0 ? std::string()
                                             : fmt::format("{}+{:#x}", demangled(name), address - function.address);
    }

    Dwfl_Module* module_;
    std::vector<Function> functions_;
};

}  // namespace

struct NativeSymbols::Object {
    std::unique_ptr<Dwfl, decltype(&dwfl_end)> session{dwfl_begin(&callbacks), dwfl_end};
    Dwfl_Module* module = nullptr;
    uint64_t bias = 0;
    std::optional<SymbolTable> symbols;  ///< since they were needed

    explicit Object(const std::string& path) {
        if (session == nullptr) {
            return;
        }
        dwfl_report_begin(session.get());
        module = dwfl_report_elf(session.get(), path.c_str(), path.c_str(), -1, 0, true);
        dwfl_report_end(session.get(), nullptr, nullptr);
        GElf_Addr main_bias = 0;
        if (module != nullptr && dwfl_module_getelf(module, &main_bias) != nullptr) {
            bias = main_bias;
        } else {
            module = nullptr;
        }
    }

    /// Returns the frames by the debug information; none if it lacks the address.
    std::vector<NativeFrame> lines_at(uint64_t address) const {
        Dwarf_Addr dwarf_bias = 0;
        Dwarf_Die* unit = dwfl_module_addrdie(module, address, &dwarf_bias);
        Dwfl_Line* line = dwfl_module_getsrc(module, address);
        int number = 0;
        const char* file = line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
        if (unit == nullptr || file == nullptr) {
            return {};
        }
        InlinedFrames frames(*unit, file, number);
        Dwarf_Die* found = nullptr;
        const int scopes = dwarf_getscopes(unit, address - dwarf_bias, &found);
        const std::unique_ptr<Dwarf_Die, decltype(&std::free)> innermost(found, std::free);
        Dwarf_Die* chain = nullptr;
        const int count = scopes > 0 ? dwarf_getscopes_die(innermost.get(), &chain) : 0;
        const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owned(chain, std::free);
        for (int i = 0; i < count; ++i) {
            frames.add(chain[i]);
        }
        return frames.take();
    }
};

NativeSymbols::NativeSymbols() = default;
NativeSymbols::~NativeSymbols() = default;

const std::vector<NativeFrame>& NativeSymbols::at(const std::string& object, uint64_t offset) {
    const auto [entry, is_new] = known_.try_emplace({object, offset});
    if (is_new) {
        entry->second = find(object, offset);
    }
    return entry->second;
}

std::vector<NativeFrame> NativeSymbols::find(const std::string& path, uint64_t offset) {
    auto& object = objects_[path];
    if (object == nullptr) {
        object = std::make_unique<Object>(path);
    }
    NativeFrame nameless{fmt::format("{:#x}", offset), path, 0};
    if (object->module == nullptr) {
        return {nameless};
    }
    const uint64_t address = offset + object->bias;
    if (std::vector<NativeFrame> frames = object->lines_at(address); !frames.empty()) {
        return frames;
    }
    if (!object->symbols) {
        object->symbols.emplace(object->module);
    }
    const std::string name = object->symbols->name_at(address);
    return {name.empty() ? nameless : NativeFrame{name, path, 0}};
}

void leave_out_runtime(std::vector<NativeFrame>& frames) {
    const auto is_program = [](const NativeFrame& frame) { return !is_of_cuda_runtime(frame.function); };
    const auto first = std::find_if(frames.begin(), frames.end(), is_program);
    // Code of a runtime whose symbols were removed has no names: it lies before its public function.
    auto last_runtime =
        std::find_if(frames.rbegin(), frames.rend(), [&](const NativeFrame& f) { return !is_program(f); });
    if (first != frames.end() && last_runtime.base() != frames.end()) {
        frames.erase(frames.begin(), last_runtime.base());
    }
    while (frames.size() > 1 && is_start(frames.back().function)) {
        frames.pop_back();
    }
}

}  // namespace tidemark::recorder
