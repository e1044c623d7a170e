// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A fake CUPTI for machines without a GPU: a library loaded through TIDEMARK_CUPTI. The test controls it through this
// struct.
#pragma once

#include <cstdint>

#include "recorder/driver/cupti_abi.h"

namespace fake_cupti {

struct Control {
    /// Result of cuptiSubscribe, and the name of the current subscriber.
    int subscribe_result = 0;
    const char* subscriber = "";

    tidemark::recorder::cupti::Callback callback = nullptr;
    void* user = nullptr;
    bool subscribed = false;
    uint64_t enabled[4][16] = {};  ///< bit per callback id, per domain

    bool is_enabled(int domain, uint32_t id) const { return (enabled[domain][id / 64] >> (id % 64) & 1) != 0; }
};

}  // namespace fake_cupti

extern "C" fake_cupti::Control* fake_cupti_control();
