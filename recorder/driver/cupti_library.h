// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Loads CUPTI at run time: the library that this process has loaded or would load, never a second one.
#pragma once

#include <string>

#include "recorder/driver/cupti_abi.h"

namespace tidemark::recorder {

struct CuptiLibrary {
    int (*subscribe)(cupti::Subscriber*, cupti::Callback, void* user) = nullptr;
    int (*subscribe_v2)(cupti::Subscriber*, cupti::Callback, void* user, cupti::SubscriberParams*) = nullptr;
    int (*unsubscribe)(cupti::Subscriber) = nullptr;
    int (*enable_callback)(uint32_t enable, cupti::Subscriber, cupti::Domain, uint32_t id) = nullptr;
    int (*get_device_id)(cupti::Context, uint32_t*) = nullptr;
    int (*get_result_string)(int, const char**) = nullptr;

    /// Returns CUPTI, which stays loaded, or nullptr if no library works. Thread-safe.
    static const CuptiLibrary* load();

    std::string reason(int result) const;
};

}  // namespace tidemark::recorder
