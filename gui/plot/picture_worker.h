// Paints pictures off the GUI thread: one at a time, only the newest request waits.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <optional>

namespace tidemark::gui {

/// `deliver` runs on the owner's thread. A newer request replaces a waiting one; a running one is finished and
/// delivered, so that a picture appears even while requests never stop.
template <class Request, class Picture>
class PictureWorker {
public:
    PictureWorker(QObject* owner, std::function<Picture(const Request&)> paint, std::function<void(Picture)> deliver)
        : owner_(owner), paint_(std::move(paint)), deliver_(std::move(deliver)) {
        pool_.setMaxThreadCount(1);
    }
    ~PictureWorker() {
        *generation_ += 1;
        pool_.waitForDone();
    }

    void request(Request request) {
        if (running_) {
            pending_ = std::move(request);
        } else {
            start(std::move(request));
        }
    }

    bool busy() const { return running_; }

    /// Nothing asked for so far is delivered any more (another trace, or none).
    void forget() {
        *generation_ += 1;
        pending_.reset();
        running_ = false;
    }

private:
    void start(Request request) {
        running_ = true;
        pool_.start([this, request = std::move(request), generation = generation_, mine = *generation_] {
            auto picture = std::make_shared<Picture>(paint_(request));
            // `this` is only touched on the owner's thread, and only if the generation says it is still there.
            QMetaObject::invokeMethod(
                owner_,
                [this, picture, generation, mine] {
                    if (*generation == mine) {
                        finish(std::move(*picture));
                    }
                },
                Qt::QueuedConnection);
        });
    }

    void finish(Picture picture) {
        running_ = false;
        if (pending_) {
            Request next = std::move(*pending_);
            pending_.reset();
            start(std::move(next));
        }
        deliver_(std::move(picture));
    }

    QObject* owner_;
    std::function<Picture(const Request&)> paint_;
    std::function<void(Picture)> deliver_;
    std::shared_ptr<int> generation_ = std::make_shared<int>(0);  // GUI thread only
    bool running_ = false;
    std::optional<Request> pending_;
    QThreadPool pool_;
};

}  // namespace tidemark::gui
