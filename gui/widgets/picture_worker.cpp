#include "gui/widgets/picture_worker.h"

namespace tidemark::gui {

QThreadPool* picture_threads() {
    static QThreadPool pool;
    return &pool;
}

}  // namespace tidemark::gui
