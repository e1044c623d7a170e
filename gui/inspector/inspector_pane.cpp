// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/inspector/inspector_pane.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QEvent>
#include <QFileInfo>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QScrollBar>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {
// The text follows the cursor slower than the plots, so that the plots repaint without delay.
constexpr int refresh_milliseconds = 60;
}  // namespace

InspectorPane::InspectorPane(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Details of the selection"));
    text_ = new QTextBrowser(this);
    text_->setOpenLinks(false);
    text_->setFrameShape(QFrame::NoFrame);
    text_->setAccessibleName(tr("Details"));
    text_->document()->setDocumentMargin(10);
    connect(text_, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { follow(url.toString(QUrl::FullyEncoded)); });

    copy_details_ = tool_button(tr("Copy"), tr("Copy these details as text"), [this] { copy_details(); });
    copy_stack_ = tool_button(tr("Copy stack"), tr("Copy all frames as text"), [this] { copy_stack(); });
    open_ = tool_button(tr("Open in editor"),
                        tr("Opens the line of your program; copies file:line if there is no editor for it"),
                        [this] { open_in_editor(); });
    auto* bar = new Toolbar(this);
    for (QToolButton* button : {copy_details_, copy_stack_, open_}) {
        bar->add(button);
    }
    bar->add_right(tool_button(QStringLiteral("×"), tr("Hide this pane (I)"), [this] { emit close_requested(); }));

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(bar);
    layout->addWidget(text_, 1);

    timer_.setSingleShot(true);
    timer_.setInterval(refresh_milliseconds);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (isVisible()) {  // otherwise showEvent() refreshes
            refresh_now();
        }
    });
    connect(&state_, &CursorState::changed, this, &InspectorPane::schedule);
    state_.set_active(false);
    set_session(nullptr);
}

void InspectorPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    empty_trace_ = session && !session->has_device();
    session_ = session && session->has_device() ? session : nullptr;
    owners_of_ = no_allocation;
    options_ = {};
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &InspectorPane::schedule);
        connect(session_, &Session::grown, this, [this] {
            owners_of_ = no_allocation;
            schedule();
        });
        connect(&session_->graph_source(), &GraphSource::changed, this, &InspectorPane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, [this] {
            options_ = {};
            text_->verticalScrollBar()->setValue(0);
            if (isVisible()) {
                refresh_now();
            }
        });
    }
    state_.set_session(session_);
    refresh_now();
}

void InspectorPane::schedule() {
    if (!timer_.isActive()) {
        timer_.start();
    }
}

Report InspectorPane::describe() {
    if (!session_) {
        Report report;
        report.note(empty_trace_ ? tr("This trace has no memory events of any device.")
                                 : tr("No trace is open. Open one and select something in it."));
        return report;
    }
    const SelectionState& selected = session_->selection().state();
    const bool needs_state = selected.allocation != no_allocation || selected.segment != no_segment;
    if (needs_state) {
        state_.ensure_current();
    }
    Describer describer(*session_, needs_state ? state_.state().get() : nullptr, sources_, options_);
    if (selected.allocation != no_allocation) {
        if (owners_of_ != selected.allocation || owners_device_ != selected.device) {
            owners_of_ = selected.allocation;
            owners_device_ = selected.device;
            owners_ =
                owners_of_address(session_->device(), session_->device().allocations.address[selected.allocation]);
        }
        return describer.allocation(selected.allocation, owners_);
    }
    if (selected.segment != no_segment && selected.segment < session_->device().segments.size()) {
        return describer.segment(selected.segment);
    }
    if (selected.node && session_->graph() && *selected.node < session_->graph()->tables().nodes.size()) {
        return describer.node(*selected.node);
    }
    return selected.stack ? describer.stack(*selected.stack) : describer.time_point();
}

void InspectorPane::refresh_now() {
    timer_.stop();
    report_ = describe();
    const QString html =
        report_.html(Theme::current(), text_->font(), QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
    if (html != html_) {
        const int scroll = text_->verticalScrollBar()->value();
        text_->setHtml(html);
        text_->verticalScrollBar()->setValue(scroll);
        html_ = html;
    }
    const StackId stack = selected_stack();
    copy_details_->setEnabled(session_ != nullptr);
    copy_stack_->setEnabled(stack != 0);
    open_->setEnabled(stack != 0);
}

StackId InspectorPane::selected_stack() const {
    if (!session_) {
        return 0;
    }
    const SelectionState& selected = session_->selection().state();
    if (selected.allocation != no_allocation) {
        return session_->device().allocations.stack[selected.allocation];
    }
    if (selected.node && session_->graph()) {
        return session_->graph()->tables().nodes.stack[*selected.node];
    }
    return selected.segment != no_segment ? session_->device().segments[selected.segment].stack
                                          : selected.stack.value_or(0);
}

QString InspectorPane::plain_stack() const {
    const StackId stack = selected_stack();
    return stack ? Describer::plain_stack(session_->trace().stacks, stack) : QString();
}

QString InspectorPane::shown_text() const { return text_->toPlainText(); }
void InspectorPane::copy_details() const { QGuiApplication::clipboard()->setText(plain_text()); }
void InspectorPane::copy_stack() const { QGuiApplication::clipboard()->setText(plain_stack()); }

void InspectorPane::open_in_editor() {
    if (const StackId stack = selected_stack()) {
        const StackTable& stacks = session_->trace().stacks;
        const FrameId site = stacks.site(stack);
        if (!is_python(stacks.role(site))) {
            emit message(tr("No Python frame allocated this memory."));
            return;
        }
        const Frame& frame = stacks.frame(site);
        open_file(to_qstring(stacks.string(frame.file)), frame.line);
    }
}

void InspectorPane::open_file(const QString& path, int line) {
    const QString place = QStringLiteral("%1:%2").arg(path).arg(line);
    QGuiApplication::clipboard()->setText(place);
    const bool here = QFileInfo(path).isAbsolute() && QFileInfo(path).isFile();
    if (here && QDesktopServices::openUrl(QUrl::fromLocalFile(path))) {
        emit message(tr("Opened %1; line %2 is on the clipboard.").arg(path).arg(line));
    } else {
        emit message(here ? tr("No program is set up for source files; copied %1.").arg(place)
                          : tr("The file is not on this machine; copied %1.").arg(place));
    }
}

void InspectorPane::follow(const QString& link) {
    if (!session_) {
        return;
    }
    const QString kind = link.section(u':', 0, 0);
    const QString rest = link.section(u':', 1);
    Selection& selection = session_->selection();
    if (kind == QLatin1String("allocation")) {
        selection.select_allocation(rest.toUInt());
    } else if (kind == QLatin1String("segment")) {
        selection.select_segment(rest.toUInt());
    } else if (kind == QLatin1String("stack")) {
        selection.select_stack(rest.toUInt());
    } else if (kind == QLatin1String("node")) {
        selection.select_node(rest.toUInt());
    } else if (kind == QLatin1String("time_point")) {
        selection.set_time_point(rest.toInt());
    } else if (kind == QLatin1String("line")) {
        open_file(QUrl::fromPercentEncoding(rest.section(u':', 1).toUtf8()), rest.section(u':', 0, 0).toInt());
    } else {
        options_.unfold_stack |= rest == QLatin1String("stack");
        options_.unfold_free |= rest == QLatin1String("free");
        options_.all_owners |= rest == QLatin1String("owners");
        refresh_now();
    }
}

void InspectorPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    state_.set_active(true);
    refresh_now();
    // The pane gets its width after this event. A text that was laid out in a narrower one keeps its scroll bars.
    QTimer::singleShot(0, this, [this] {
        html_.clear();
        refresh_now();
    });
}

void InspectorPane::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    state_.set_active(false);
}

void InspectorPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        html_.clear();
        schedule();
    }
}

}  // namespace tidemark::gui
