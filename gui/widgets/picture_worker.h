// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Paints the pictures of the plots off the GUI thread.
#pragma once

#include "gui/model/latest_only.h"
#include "gui/model/worker_threads.h"
#include "gui/widgets/picture.h"

namespace tidemark::gui {

/// Paints the newest request. A running picture is finished and delivered, so that a plot changes while the view
/// moves. `paint` must be a pure function of its request.
template <class Picture>
class PictureWorker {
public:
    PictureWorker(QObject* owner, Picture (*paint)(const PictureRequest&), std::function<void(Picture)> deliver)
        : paint_(paint),
          latest_(
              owner, OnNewerRequest::finish_running,
              [deliver = std::move(deliver)](const std::shared_ptr<const Picture>& picture) { deliver(*picture); },
              picture_threads()) {}

    void request(PictureRequest request) {
        latest_.start([paint = paint_, request = std::move(request)](Progress&) {
            return std::make_shared<const Picture>(paint(request));
        });
    }
    bool busy() const { return latest_.busy(); }
    void abandon() { latest_.abandon(); }

private:
    Picture (*paint_)(const PictureRequest&);
    LatestOnly<Picture> latest_;
};

}  // namespace tidemark::gui
