// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/cupti_places.h"

#include "recorder/core/environment.h"

namespace tidemark::recorder {
std::vector<std::string> cupti_places(const std::string& torch_lib) {
    std::vector<std::string> places;
    if (const std::string_view selected = environment("TIDEMARK_CUPTI"); !selected.empty()) {
        places.emplace_back(selected);
    }
    if (!torch_lib.empty()) {
        const std::string packages = torch_lib + "/../..";
        places.push_back(packages + "/nvidia/cu13/lib/libcupti.so.13");
        places.push_back(packages + "/nvidia/cuda_cupti/lib/libcupti.so.12");
    }
    for (const std::string_view toolkit :
         {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string_view("/usr/local/cuda")}) {
        for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"}) {
            for (const char* name : cupti_names) {
                if (!toolkit.empty()) {
                    places.push_back(std::string(toolkit) + folder + name);
                }
            }
        }
    }
    places.insert(places.end(), cupti_names.begin(), cupti_names.end());
    return places;
}

}  // namespace tidemark::recorder
