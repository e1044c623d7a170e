// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Python's pickle opcodes, protocols 0 to 5.
#pragma once

#include <cstdint>

namespace tidemark::opcode {

constexpr uint8_t mark = '(', stop = '.', pop = '0', pop_mark = '1', dup = '2';
constexpr uint8_t none = 'N', newtrue = 0x88, newfalse = 0x89;
constexpr uint8_t int_text = 'I', binint = 'J', binint1 = 'K', binint2 = 'M', long_text = 'L', long1 = 0x8a,
                  long4 = 0x8b;
constexpr uint8_t float_text = 'F', binfloat = 'G';
constexpr uint8_t string_text = 'S', binstring = 'T', short_binstring = 'U';
constexpr uint8_t unicode_text = 'V', binunicode = 'X', short_binunicode = 0x8c, binunicode8 = 0x8d;
constexpr uint8_t binbytes = 'B', short_binbytes = 'C', binbytes8 = 0x8e, bytearray8 = 0x96;
constexpr uint8_t empty_list = ']', append = 'a', appends = 'e', list = 'l';
constexpr uint8_t empty_dict = '}', setitem = 's', setitems = 'u', dict = 'd';
constexpr uint8_t empty_tuple = ')', tuple = 't', tuple1 = 0x85, tuple2 = 0x86, tuple3 = 0x87;
constexpr uint8_t empty_set = 0x8f, additems = 0x90, frozenset = 0x91;
constexpr uint8_t get = 'g', binget = 'h', long_binget = 'j', put = 'p', binput = 'q', long_binput = 'r',
                  memoize = 0x94;
constexpr uint8_t proto = 0x80, frame = 0x95;

// These opcodes import, call or fetch something from outside the file.
constexpr uint8_t global = 'c', stack_global = 0x93, reduce = 'R', build = 'b', inst = 'i', obj = 'o';
constexpr uint8_t newobj = 0x81, newobj_ex = 0x92, persid = 'P', binpersid = 'Q', ext1 = 0x82, ext2 = 0x83, ext4 = 0x84;
constexpr uint8_t next_buffer = 0x97, readonly_buffer = 0x98;

constexpr uint8_t newest_protocol = 5;

/// Returns "SETITEMS"; nullptr if `code` is no opcode.
const char* name(uint8_t code);

}  // namespace tidemark::opcode
