// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/live_view.h"

#include <QApplication>

#include "gui/app/live_strip.h"
#include "gui/app/trace_page.h"

namespace tidemark::gui {

namespace {

std::optional<int64_t> newest_event(const Trace& trace) {
    std::optional<int64_t> newest;
    for (const DeviceHistory& device : trace.devices) {
        if (!device.event_time.empty()) {
            newest = std::max(newest.value_or(0), device.event_time.back());
        }
    }
    return newest;
}

}  // namespace

LiveView::LiveView(TracePage& page, LiveStrip& strip, std::unique_ptr<StreamingFeed> feed)
    : page_(page), strip_(strip), feed_(std::move(feed)) {
    page_.session()->set_live(true);
    strip_.set_session(page_.session());
    strip_.set_frozen(feed_->frozen());
    connect(feed_.get(), &StreamingFeed::grown, this, &LiveView::take);
    connect(feed_.get(), &StreamingFeed::figures, &strip_, &LiveStrip::show_figures);
    connect(feed_.get(), &StreamingFeed::failed, this, [this](const QString& sentence) {
        end();
        emit failed(sentence);
    });
    connect(feed_.get(), &StreamingFeed::ended, this, [this] {
        end();
        emit ended();
    });
    connect(&strip_, &LiveStrip::freeze_requested, this, &LiveView::set_frozen);
    connect(&page_.timeline(), &QCustomPlot::afterReplot, this, &LiveView::note_painted);
    if (page_.session()->has_device()) {
        feed_->shown(page_.session()->device_groups());
    }
}

void LiveView::set_frozen(bool frozen) {
    feed_->set_frozen(frozen);
    strip_.set_frozen(frozen);
    emit frozen_changed();
}

std::unique_ptr<StreamingFeed> LiveView::release_feed() {
    page_.timeline().disconnect(this);
    feed_->disconnect();
    return std::move(feed_);
}

void LiveView::take(const Content& content, const DeviceGroups& groups) {
    Session* session = page_.session();
    awaited_ = true;
    if (session->has_device() && !content.analyses.empty()) {
        session->grow(content, groups);
        if (!is_story_read()) {
            session->explanation_source().explain_growth();
        }
        return;
    }
    page_.set_session(std::make_shared<Session>(content.trace, content.analyses));
    page_.session()->set_live(true);
    strip_.set_session(page_.session());
    emit session_replaced();
    if (!page_.session()->has_device()) {
        awaited_ = false;
        feed_->shown({});
    }
}

/// Returns whether a new explanation would take away what the user reads, or move links below the pointer.
bool LiveView::is_story_read() const {
    const StoryPane& story = page_.why();
    return story.underMouse() || story.isAncestorOf(QApplication::focusWidget()) ||
           page_.session()->explanation_source().selected() >= 0;
}

/// Reports the delay to the screen after the plot has painted the delivered trace.
void LiveView::note_painted() {
    if (!awaited_ || page_.session() == nullptr) {
        return;
    }
    const Session& session = *page_.session();
    if (!session.has_device() || page_.timeline().picture().request.analysis != session.shared_analysis()) {
        return;
    }
    awaited_ = false;
    const auto newest = newest_event(session.trace());
    const auto happened = newest ? wall_clock_of(session.trace(), *newest) : std::nullopt;
    strip_.show_on_screen(happened ? std::optional(std::max<int64_t>(wall_clock_now() - *happened, 0)) : std::nullopt);
    emit painted(session.shared_trace());
    feed_->shown(session.device_groups());
}

void LiveView::end() {
    if (page_.session() != nullptr) {
        page_.session()->set_live(false);
    }
    strip_.set_frozen(false);
}

}  // namespace tidemark::gui
