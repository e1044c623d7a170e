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
                Sentence("This pickle refers to something outside the file (opcode {opcode} at byte {byte}). A memory "
                         "snapshot holds only its own data; Tidemark does not look anything up for a pickle.",
                         with("opcode", opcode::name(code)), with("byte", code_position_)));
        default: break;
    }
    if (!opcode::name(code)) {
        return fail(
            Sentence("The file is damaged, or not a pickle: byte {byte} holds {value}, which is no pickle opcode.",
                     with("byte", code_position_), with("value", fmt::format("{:#04x}", code))));
    }
    return fail(
        Sentence("This pickle wants to run code (opcode {opcode} at byte {byte}). A memory snapshot holds only data; "
                 "Tidemark does not execute pickles.",
                 with("opcode", opcode::name(code)), with("byte", code_position_)));
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
        Sentence("This pickle wants to run code (opcode {opcode} at byte {byte} asks for {module}.{attribute}). A "
                 "memory snapshot holds only data; Tidemark does not execute pickles.",
                 with("opcode", opcode::name(code)), with("byte", code_position_), with("module", printable(module)),
                 with("attribute", printable(attribute))));
}

/// Keeps the first error, with the byte position in front.
bool PickleMachine::check(Status status) {
    if (status) [[likely]] {
        return true;
    }
    error_ = status.error();
    error_->sentence =
        Sentence("Near byte {byte}: {sentence}", with("byte", code_position_), with("sentence", error_->sentence));
    return false;
}

bool PickleMachine::fail(Sentence sentence) {
    error_ = Error{ErrorKind::input, std::move(sentence)};
    return false;
}

bool PickleMachine::lacks_values() {
    return fail(Sentence("The file is damaged: opcode {opcode} at byte {byte} lacks the values it works on.",
                         with("opcode", opcode::name(code_)), with("byte", code_position_)));
}

bool PickleMachine::ends_early() {
    return fail(
        Sentence("The file ends in the middle of the snapshot (after {bytes} bytes); it was probably cut while "
                 "copying or while being written. Copy it again, or write a new one with "
                 "torch.cuda.memory._dump_snapshot(\"file.pickle\").",
                 with("bytes", source_.position() + source_.available())));
}

}  // namespace tidemark
