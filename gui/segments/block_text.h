// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The texts of the segment map about a block.
#pragma once

#include "gui/model/block_ref.h"
#include "gui/model/session.h"

namespace tidemark::gui {

/// Returns the tooltip of a block as rich text; `others` more blocks share its pixel.
QString describe_block(const Session& session, const MemoryState& state, BlockRef block, int others);
/// Returns one line, for screen readers and the status line.
QString summarize_block(const Session& session, const MemoryState& state, BlockRef block);

}  // namespace tidemark::gui
