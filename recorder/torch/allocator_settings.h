// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Settings of the caching allocator, which determine block sizes.
#pragma once

namespace tidemark::plugin {

/// Sends each setting with its value as JSON, under the name that memory snapshots use.
void report_allocator_settings();

}  // namespace tidemark::plugin
