// Private members by name: an explicit instantiation may mention them, and a friend function hands them out.
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
