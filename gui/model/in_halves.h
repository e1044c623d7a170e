// Work over a range on two threads: pictures are wide, and two cores are what every machine has.
#pragma once

#include <thread>

namespace tidemark::gui {

/// work(first, last) for both halves of [0, count); returns when both are done.
template <class Work>
void in_halves(int count, Work work) {
    const int middle = count / 2;
    std::thread left([&] { work(0, middle); });
    work(middle, count);
    left.join();
}

}  // namespace tidemark::gui
