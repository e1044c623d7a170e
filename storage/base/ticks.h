// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The ticks of axes: distances that are round numbers, and their labels.
#pragma once

#include <string>

namespace tidemark {

/// An axis comes from a file, so any span has a step: without a finite positive span it is 1.

/// Returns the distance between ticks on an axis of `span` bytes with about `count` ticks: a power of two, at least 1.
double byte_tick_step(double span, int count);
/// Returns the distance between ticks on an axis of `span` units with about `count` ticks: 1, 2 or 5 times a power of
/// ten.
double decimal_tick_step(double span, int count);

/// Returns "0", "512 MiB" or "1.5 GiB": exact for multiples of `step` bytes, so neighboring labels differ.
std::string byte_tick_label(double bytes, double step);
/// Returns seconds with as many decimals as a `step` needs, in groups of three: "12.5 s", "0.000 250 s". Both are in
/// nanoseconds.
std::string time_tick_label(double time, double step);

}  // namespace tidemark
