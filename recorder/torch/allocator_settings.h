// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Settings of the caching allocator, which determine block sizes.
#pragma once

namespace tidemark::plugin {

/// Sends each setting under its name in a memory snapshot, with its value as JSON.
void report_allocator_settings();

}  // namespace tidemark::plugin
