// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Work over a range on two threads: pictures are wide, and every machine has two cores.
#pragma once

#include <thread>

namespace tidemark::gui {

/// Calls work(first, last) for both halves of [0, count) and returns when both are done.
template <class Work>
void in_halves(int count, Work work) {
    const int middle = count / 2;
    std::thread left([&] { work(0, middle); });
    work(middle, count);
    left.join();
}

}  // namespace tidemark::gui
