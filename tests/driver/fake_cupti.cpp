// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/driver/fake_cupti.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace tidemark::recorder;

namespace {

fake_cupti::Control control;

int subscribe(cupti::Subscriber* subscriber, cupti::Callback callback, void* user) {
    if (control.subscribe_result != cupti::success) {
        return control.subscribe_result;
    }
    if (control.subscribed) {
        return cupti::multiple_subscribers;
    }
    control.callback = callback;
    control.user = user;
    control.subscribed = true;
    *subscriber = &control;
    return cupti::success;
}

}  // namespace

extern "C" {

fake_cupti::Control* fake_cupti_control() { return &control; }

int cuptiSubscribe(cupti::Subscriber* subscriber, cupti::Callback callback, void* user) {
    return subscribe(subscriber, callback, user);
}

int cuptiSubscribe_v2(cupti::Subscriber* subscriber, cupti::Callback callback, void* user,
                      cupti::SubscriberParams* params) {
    if (params->struct_size != sizeof *params) {
        return 1;
    }
    const int result = subscribe(subscriber, callback, user);
    if (result == cupti::multiple_subscribers) {
        std::snprintf(params->old_subscriber_name, params->old_subscriber_size, "%s", control.subscriber);
    }
    return result;
}

int cuptiUnsubscribe(cupti::Subscriber) {
    control.subscribed = false;
    std::fill(&control.enabled[0][0], &control.enabled[0][0] + 4 * std::size(control.enabled[0]), 0);
    return cupti::success;
}

int cuptiEnableCallback(uint32_t enable, cupti::Subscriber, cupti::Domain domain, uint32_t id) {
    const uint64_t bit = uint64_t{1} << (id % 64);
    uint64_t& word = control.enabled[domain][id / 64];
    word = enable != 0 ? word | bit : word & ~bit;
    return cupti::success;
}

/// Contexts in tests are numbers: device + 1.
int cuptiGetDeviceId(cupti::Context context, uint32_t* device) {
    *device = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context) - 1);
    return cupti::success;
}

int cuptiGetResultString(int, const char** text) {
    *text = "CUPTI_ERROR_OF_THE_TEST";
    return cupti::success;
}
}
