// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Marks and containers of the pickle machine.
#include "storage/import/pickle_machine.h"

#include "storage/import/pickle_opcodes.h"

namespace tidemark {
namespace {

constexpr size_t mark_limit = 10'000;

}  // namespace

bool PickleMachine::push_mark() {
    if (marks_.size() == mark_limit) {
        return fail(Sentence("The file is damaged: values are nested more than {limit} deep at byte {byte}.",
                             with("limit", mark_limit), with("byte", code_position_)));
    }
    marks_.push_back(stack_.size());
    return true;
}

bool PickleMachine::pop() {
    if (since_mark() == 0 && !marks_.empty()) {
        marks_.pop_back();  // as Python does
        return true;
    }
    if (!require(1)) {
        return false;
    }
    stack_.pop_back();
    return true;
}

bool PickleMachine::pop_to_mark() {
    if (!require_mark(0)) {
        return false;
    }
    drop_to_mark();
    return true;
}

/// Checks that a mark exists, and that the enclosing level below it has at least `below` values.
bool PickleMachine::require_mark(size_t below) {
    if (marks_.empty()) {
        return lacks_values();
    }
    const size_t enclosing = marks_.size() > 1 ? marks_[marks_.size() - 2] : 0;
    return marks_.back() - enclosing >= below || lacks_values();
}

bool PickleMachine::append_one() {
    if (!require(2)) {
        return false;
    }
    const PickleValue item = stack_.back();
    stack_.pop_back();
    return check(consumer_.append(stack_.back(), {&item, 1}));
}

bool PickleMachine::append_to_mark() {
    if (!require_mark(1)) {
        return false;
    }
    const auto items = marked();
    const bool done = items.empty() || check(consumer_.append(stack_[marks_.back() - 1], items));
    drop_to_mark();
    return done;
}

bool PickleMachine::set_one() {
    if (!require(3)) {
        return false;
    }
    const size_t size = stack_.size();
    const bool done = check(consumer_.set_items(stack_[size - 3], std::span(stack_).subspan(size - 2)));
    stack_.resize(size - 2);
    return done;
}

bool PickleMachine::set_to_mark() {
    if (!require_mark(1)) {
        return false;
    }
    const auto items = marked();
    if (items.size() % 2 != 0) {
        return lacks_values();
    }
    const bool done = items.empty() || check(consumer_.set_items(stack_[marks_.back() - 1], items));
    drop_to_mark();
    return done;
}

bool PickleMachine::tuple_of(size_t count) {
    if (!require(count)) {
        return false;
    }
    auto made = consumer_.make_tuple(std::span(stack_).last(count));
    stack_.resize(stack_.size() - count);
    return push_object(std::move(made));
}

bool PickleMachine::tuple_to_mark() {
    if (!require_mark(0)) {
        return false;
    }
    auto made = consumer_.make_tuple(marked());
    drop_to_mark();
    return push_object(std::move(made));
}

bool PickleMachine::list_to_mark() {
    if (!require_mark(0)) {
        return false;
    }
    auto made = consumer_.make_list();
    const bool done = made && (marked().empty() || check(consumer_.append(*made, marked())));
    drop_to_mark();
    return made && !done ? false : push_object(std::move(made));
}

bool PickleMachine::dict_to_mark() {
    if (!require_mark(0)) {
        return false;
    }
    if (marked().size() % 2 != 0) {
        return lacks_values();
    }
    auto made = consumer_.make_dict();
    const bool done = made && (marked().empty() || check(consumer_.set_items(*made, marked())));
    drop_to_mark();
    return made && !done ? false : push_object(std::move(made));
}

}  // namespace tidemark
