// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/pickle_opcodes.h"

#include <array>

namespace tidemark::opcode {
namespace {

constexpr std::array<const char*, 256> make_names() {
    std::array<const char*, 256> names{};
    names[mark] = "MARK", names[stop] = "STOP", names[pop] = "POP", names[pop_mark] = "POP_MARK", names[dup] = "DUP";
    names[none] = "NONE", names[newtrue] = "NEWTRUE", names[newfalse] = "NEWFALSE";
    names[int_text] = "INT", names[binint] = "BININT", names[binint1] = "BININT1", names[binint2] = "BININT2";
    names[long_text] = "LONG", names[long1] = "LONG1", names[long4] = "LONG4";
    names[float_text] = "FLOAT", names[binfloat] = "BINFLOAT";
    names[string_text] = "STRING", names[binstring] = "BINSTRING", names[short_binstring] = "SHORT_BINSTRING";
    names[unicode_text] = "UNICODE", names[binunicode] = "BINUNICODE", names[short_binunicode] = "SHORT_BINUNICODE";
    names[binunicode8] = "BINUNICODE8", names[binbytes] = "BINBYTES", names[short_binbytes] = "SHORT_BINBYTES";
    names[binbytes8] = "BINBYTES8", names[bytearray8] = "BYTEARRAY8";
    names[empty_list] = "EMPTY_LIST", names[append] = "APPEND", names[appends] = "APPENDS", names[list] = "LIST";
    names[empty_dict] = "EMPTY_DICT", names[setitem] = "SETITEM", names[setitems] = "SETITEMS", names[dict] = "DICT";
    names[empty_tuple] = "EMPTY_TUPLE", names[tuple] = "TUPLE", names[tuple1] = "TUPLE1", names[tuple2] = "TUPLE2";
    names[tuple3] = "TUPLE3", names[empty_set] = "EMPTY_SET", names[additems] = "ADDITEMS";
    names[frozenset] = "FROZENSET", names[get] = "GET", names[binget] = "BINGET", names[long_binget] = "LONG_BINGET";
    names[put] = "PUT", names[binput] = "BINPUT", names[long_binput] = "LONG_BINPUT", names[memoize] = "MEMOIZE";
    names[proto] = "PROTO", names[frame] = "FRAME", names[global] = "GLOBAL", names[stack_global] = "STACK_GLOBAL";
    names[reduce] = "REDUCE", names[build] = "BUILD", names[inst] = "INST", names[obj] = "OBJ";
    names[newobj] = "NEWOBJ", names[newobj_ex] = "NEWOBJ_EX", names[persid] = "PERSID", names[binpersid] = "BINPERSID";
    names[ext1] = "EXT1", names[ext2] = "EXT2", names[ext4] = "EXT4";
    names[next_buffer] = "NEXT_BUFFER", names[readonly_buffer] = "READONLY_BUFFER";
    return names;
}

constexpr auto names = make_names();

}  // namespace

const char* name(uint8_t code) { return names[code]; }

}  // namespace tidemark::opcode
