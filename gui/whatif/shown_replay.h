// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The result of a replay with other allocator settings, as the What if pane shows it.
#pragma once

#include <memory>
#include <optional>

#include "storage/whatif/settings_replay.h"

namespace tidemark::gui {

/// Immutable. Thread: any.
struct ShownReplay {
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const RecordedRun> recorded;  ///< null: the trace cannot be replayed, see `error`
    std::optional<ModelRun> asked;                ///< nothing: these settings cannot be replayed, see `error`
    std::optional<Error> error;
};

}  // namespace tidemark::gui
