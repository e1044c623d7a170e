// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include <mutex>

#include "recorder/driver/cupti_places.h"

namespace tidemark::recorder {
namespace {

std::string folder_of_loaded(const char* library) {
    void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) {
        return {};
    }
    const link_map* map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    const std::string path = map == nullptr ? "" : map->l_name;
    dlclose(handle);
    return path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/'));
}

void* open_library() {
    for (const char* name : cupti_names) {
        if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
            return handle;
        }
    }
    for (const std::string& place : cupti_places(folder_of_loaded("libc10.so"))) {
        if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            return handle;
        }
    }
    return nullptr;
}

template <class Function>
bool look_up(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool look_up_all(void* handle, CuptiLibrary& library) {
    look_up(handle, library.subscribe_v2, "cuptiSubscribe_v2");
    look_up(handle, library.get_result_string, "cuptiGetResultString");
    return look_up(handle, library.subscribe, "cuptiSubscribe") &&
           look_up(handle, library.unsubscribe, "cuptiUnsubscribe") &&
           look_up(handle, library.enable_callback, "cuptiEnableCallback") &&
           look_up(handle, library.get_device_id, "cuptiGetDeviceId");
}

}  // namespace

const CuptiLibrary* CuptiLibrary::load() {
    static std::mutex mutex;
    static CuptiLibrary library;
    static bool loaded = false;
    const std::lock_guard lock(mutex);
    // A failure is not cached, because the program may import torch, which includes CUPTI, later.
    if (!loaded) {
        void* handle = open_library();
        loaded = handle != nullptr && look_up_all(handle, library);
    }
    return loaded ? &library : nullptr;
}

std::string CuptiLibrary::reason(int result) const {
    const char* text = nullptr;
    if (get_result_string != nullptr && get_result_string(result, &text) == cupti::success && text != nullptr) {
        return text;
    }
    return "CUPTI error " + std::to_string(result);
}

}  // namespace tidemark::recorder
