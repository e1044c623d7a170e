// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Work over a range on two threads: pictures are wide, traces are long, and every machine has two cores.
#pragma once

#include <thread>
#include <type_traits>

namespace tidemark {

/// Below so many rows a second thread takes longer to start than it saves.
constexpr int fewest_rows_to_halve = 1 << 16;

/// Calls work(first, last) for both halves of [0, count) and returns when both are done. Calls it once, for everything,
/// if there are fewer than `fewest`.
template <class Count, class Work>
void in_halves(Count count, Work work, std::type_identity_t<Count> fewest = 0) {
    if (count < fewest) {
        work(Count{0}, count);
        return;
    }
    const Count middle = count / 2;
    std::thread left([&] { work(Count{0}, middle); });
    work(middle, count);
    left.join();
}

}  // namespace tidemark
