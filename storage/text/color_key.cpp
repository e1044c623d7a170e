// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/color_key.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

uint32_t mixed(uint32_t a, uint32_t b, double part) {
    uint32_t color = 0;
    for (const unsigned shift : {16U, 8U, 0U}) {
        const double from = a >> shift & 0xff, to = b >> shift & 0xff;
        color |= static_cast<uint32_t>(std::lround(from + (to - from) * part)) << shift;
    }
    return color;
}

}  // namespace

KeyColor category_key(Category category) {
    switch (category) {
        case Category::parameter: return {0x5129a6, 0x5760d5};
        case Category::buffer: return {0x5e91c2, 0xaacbed};
        case Category::gradient: return {0x993846, 0xe4978b};
        case Category::optimizer_state: return {0x32450a, 0x0e7d3f};
        case Category::saved: return {0xae8800, 0xefc000};
        case Category::input: return {0x1a9a71, 0x46f3b9};
        case Category::output: return {0x767102, 0x7bab26};
        case Category::temporary: return {0x5c294a, 0x935293};
        case Category::workspace: return {0x4a68e2, 0x1aacff};
        case Category::communication: return {0x903f92, 0xdb7ece};
        case Category::unsharded: return {0x1b02db, 0x5284ff};
        case Category::unknown: break;
    }
    return {0x6b7077, 0x81878d};
}

KeyColor component_key(ComponentKind kind) {
    switch (kind) {
        case ComponentKind::requested: return {0x2142c0, 0x0695ea};
        case ComponentKind::rounding: return {0xc04048, 0xca4546};
        case ComponentKind::pending: return {0x844f05, 0xa88743};
        case ComponentKind::free_in_segments: return {0x6a83f2, 0x99b4fe};
        case ComponentKind::cached_segments: return {0x888d94, 0x979da4};
        case ComponentKind::private_pools: return {0x9c689d, 0xeeafc8};
        case ComponentKind::driver_pools: return {0x3c1b6e, 0xc451ba};
        case ComponentKind::library: return {0x075669, 0xaaf2e6};
        case ComponentKind::context: return {0xc27159, 0xfbce99};
        case ComponentKind::kernels: return {0x5b30ee, 0xceeb32};
        case ComponentKind::other_processes: return {0x0066a7, 0x955e00};
        case ComponentKind::unknown: break;
    }
    return {0x646970, 0x666b72};
}

KeyColor heat_key(double value) {
    constexpr KeyColor least{0xf1f3f5, 0x1f232a}, middle{0x5aa5d6, 0x2f7d96}, most{0x3b0f5c, 0xf6d845};
    const double half = std::clamp(value, 0.0, 1.0) * 2;
    return half < 1 ? KeyColor{mixed(least.light, middle.light, half), mixed(least.dark, middle.dark, half)}
                    : KeyColor{mixed(middle.light, most.light, half - 1), mixed(middle.dark, most.dark, half - 1)};
}

}  // namespace tidemark
