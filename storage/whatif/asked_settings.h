// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Allocator settings in the syntax of PYTORCH_CUDA_ALLOC_CONF, for replays with other settings.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "storage/whatif/what_if.h"

namespace tidemark {

/// Settings and a memory limit to replay a recording with. What is not set stays as recorded.
struct AskedSettings {
    Change change;
    std::optional<int64_t> limit;  ///< bytes that the allocator may reserve
};

/// Reads "expandable_segments:True,max_split_size_mb:128" and adds it to `change`; later values replace earlier ones.
/// Errors (usage) name the settings that can be replayed, or the values that PyTorch accepts.
Status add_configuration(const std::string& configuration, Change& change);

/// Returns the value of PYTORCH_CUDA_ALLOC_CONF with the recorded settings and the change, without PyTorch's defaults;
/// empty if all have their defaults. Settings that the model does not know stay as recorded.
std::string configuration_text(const std::map<std::string, std::string>& recorded, const Change& change);

/// Returns the settings with the change.
AllocatorSettings changed_settings(AllocatorSettings settings, const Change& change);

}  // namespace tidemark
