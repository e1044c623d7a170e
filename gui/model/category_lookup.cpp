// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/category_lookup.h"

namespace tidemark::gui {

CategoryLookup::CategoryLookup(std::shared_ptr<const Graph> graph, int device, int64_t time)
    : graph_(std::move(graph)), time_(time) {
    if (graph_ && !graph_->tables().empty()) {
        history_ = graph_->index.trace().device(device);
    }
    if (history_ != nullptr) {
        position_ = static_cast<uint32_t>(history_ - graph_->index.trace().devices.data());
    }
}

}  // namespace tidemark::gui
