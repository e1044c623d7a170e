// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/select_devices.h"

#include <fmt/format.h>

namespace tidemark {
namespace {

std::string device_list(const Trace& trace) {
    std::string text;
    for (const DeviceHistory& device : trace.devices) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", device.device);
    }
    return text;
}

}  // namespace

Result<std::vector<const DeviceHistory*>> select_devices(const Trace& trace, std::optional<int> wanted) {
    std::vector<const DeviceHistory*> devices;
    for (const DeviceHistory& device : trace.devices) {
        if (!wanted || *wanted == device.device) {
            devices.push_back(&device);
        }
    }
    if (trace.devices.empty()) {
        return input_error(
            "{path}: this trace has no events and no memory of any device, because the program used no GPU while it "
            "was recorded. Record it while it uses the GPU: tidemark record -- COMMAND",
            with("path", trace.path));
    }
    if (devices.empty()) {
        return usage_error("There is no device {device} in this trace: it has {devices}.", with("device", *wanted),
                           with("devices", device_list(trace)));
    }
    return devices;
}

}  // namespace tidemark
