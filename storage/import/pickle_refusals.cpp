// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The opcodes that the pickle machine rejects, and its errors.
#include "storage/import/pickle_machine.h"

#include <fmt/format.h>

#include "storage/import/pickle_opcodes.h"
#include "storage/import/pickle_text.h"

namespace tidemark {

bool PickleMachine::refuse(uint8_t code) {
    switch (code) {
        case opcode::global:
        case opcode::inst:
        case opcode::stack_global: return refuse_global(code);
        case opcode::persid:
        case opcode::binpersid:
        case opcode::ext1:
        case opcode::ext2:
        case opcode::ext4:
        case opcode::next_buffer:
        case opcode::readonly_buffer:
            return fail(
                fmt::format("This pickle refers to something outside the file (opcode {} at byte {}). A memory "
                            "snapshot holds only its own data; Tidemark does not look anything up for a pickle.",
                            opcode::name(code), code_position_));
        default: break;
    }
    if (!opcode::name(code)) {
        return fail(
            fmt::format("The file is damaged, or not a pickle: byte {} holds {:#04x}, which is no pickle opcode.",
                        code_position_, code));
    }
    return fail(
        fmt::format("This pickle wants to run code (opcode {} at byte {}). A memory snapshot holds only data; "
                    "Tidemark does not execute pickles.",
                    opcode::name(code), code_position_));
}

bool PickleMachine::refuse_global(uint8_t code) {
    std::string module, attribute;
    if (code == opcode::stack_global) {
        if (!require(2)) {
            return false;
        }
        const PickleValue first = stack_[stack_.size() - 2], second = stack_.back();
        module = first.kind == PickleKind::text ? texts_[first.text] : "?";
        attribute = second.kind == PickleKind::text ? texts_[second.text] : "?";
    } else {
        std::string_view line;
        if (!take_line(line)) {
            return false;
        }
        module = line;
        if (!take_line(line)) {
            return false;
        }
        attribute = line;
    }
    return fail(
        fmt::format("This pickle wants to run code (opcode {} at byte {} asks for {}.{}). A memory snapshot holds "
                    "only data; Tidemark does not execute pickles.",
                    opcode::name(code), code_position_, printable(module), printable(attribute)));
}

/// Inserts the byte position before the final full stop of an error message.
bool PickleMachine::check(Status status) {
    if (status) [[likely]] {
        return true;
    }
    error_ = status.error();
    std::string& sentence = error_->message;
    if (sentence.ends_with('.')) {
        sentence.insert(sentence.size() - 1, fmt::format(" (near byte {})", code_position_));
    }
    return false;
}

bool PickleMachine::fail(std::string sentence) {
    error_ = input_error(std::move(sentence));
    return false;
}

bool PickleMachine::lacks_values() {
    return fail(fmt::format("The file is damaged: opcode {} at byte {} lacks the values it works on.",
                            opcode::name(code_), code_position_));
}

bool PickleMachine::ends_early() {
    return fail(
        fmt::format("The file ends in the middle of the snapshot (after {} bytes); it was probably cut while "
                    "copying or while being written. Copy it again, or write a new one with "
                    "torch.cuda.memory._dump_snapshot(\"file.pickle\").",
                    source_.position() + source_.available()));
}

}  // namespace tidemark
