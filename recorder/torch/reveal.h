// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Accesses private members: an explicit instantiation may name them, and a friend function returns them.
//
//     struct Data { friend constexpr auto member(Data); };
//     template struct Reveal<&Class::data_, Data>;
//     object.*member(Data())
#pragma once

namespace tidemark::plugin {

template <auto Member, class Tag>
struct Reveal {
    friend constexpr auto member(Tag) { return Member; }
};

}  // namespace tidemark::plugin
