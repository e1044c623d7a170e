// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QStatusBar>
#include <QVBoxLayout>

#include "gui/app/examples.h"
#include "gui/model/explained.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/widgets/ask_path.h"
#include "gui/widgets/qcp.h"
#include "storage/base/units.h"
#include "storage/job/job.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

MainWindow::MainWindow(Application& application) : application_(application) {
    setWindowTitle(QStringLiteral("Tidemark"));
    setAcceptDrops(true);
    start_ = new StartPage;
    loading_ = new LoadingPage;
    page_ = new TracePage;
    message_ = new MessageBar;
    stack_ = new QStackedWidget;
    for (QWidget* page : std::initializer_list<QWidget*>{start_, loading_, page_}) {
        stack_->addWidget(page);
    }
    auto* center = new QWidget;
    auto* column = new QVBoxLayout(center);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(message_);
    column->addWidget(stack_, 1);
    setCentralWidget(center);
    status_ = std::make_unique<StatusLine>(*statusBar());
    actions_ = new Actions(this);
    make_actions();

    connect(start_, &StartPage::open_requested, this, &MainWindow::ask_for_file);
    connect(start_, &StartPage::record_requested, this, &MainWindow::show_record_dialog);
    connect(start_, &StartPage::file_selected, this, &MainWindow::open);
    connect(start_, &StartPage::removal_requested, this, [this](const QString& file) {
        application_.settings().forget_file(file);
        start_->show_recent_files(application_.settings());
    });
    connect(loading_, &LoadingPage::cancel_requested, &loader_, &Loader::cancel);
    connect(&loader_, &Loader::progressed, loading_, &LoadingPage::show_progress);
    connect(&loader_, &Loader::opened, this, [this](const Opened& opened) {
        if (!is_example(pending_)) {
            application_.settings().remember_file(pending_);
        }
        before_swap_ = {};
        show_session(opened.session, pending_);
        if (opened.follower) {
            page_->follow(std::make_unique<StreamingFeed>(opened.follower));
        }
        if (!opened.note.isEmpty()) {
            message_->show_message(opened.note, false);
        }
    });
    connect(&page_->summary(), &SummaryTable::export_finished, this, &MainWindow::show_export);
    connect(&page_->breakdown(), &BreakdownPane::export_finished, this, &MainWindow::show_export);
    connect(&loader_, &Loader::failed, this, [this](const QString& sentence) {
        stack_->setCurrentWidget(page_->session() ? static_cast<QWidget*>(page_) : start_);
        update_actions();
        message_->show_message(sentence, true);
        emit trace_failed(sentence);
    });
    connect(&loader_, &Loader::canceled, this, [this] {
        stack_->setCurrentWidget(page_->session() ? static_cast<QWidget*>(page_) : start_);
        update_actions();
    });
    connect(page_, &TracePage::colors_changed, this, &MainWindow::update_actions);
    connect(page_, &TracePage::live_changed, this, &MainWindow::update_actions);
    connect(page_, &TracePage::comparison_changed, this, &MainWindow::update_actions);
    connect(page_, &TracePage::swap_requested, this, &MainWindow::swap_compared);
    connect(&page_->changes(), &ChangesPane::stop_requested, this, &MainWindow::stop_comparing);
    connect(&page_->arrangement(), &PageLayout::changed, this, &MainWindow::update_actions);
    connect(&page_->why(), &StoryPane::explained_changed, this, [this] {
        remember_summary();
        update_actions();
    });
    connect(page_, &TracePage::session_replaced, this, [this] {
        follow_session();
        update_actions();
        update_status();
    });
    connect(page_, &TracePage::live_ended, this, [this] {
        message_->show_message(ended_text(page_->session()->trace()), false);
        update_status();
    });
    connect(page_, &TracePage::notes_failed, this,
            [this](const QString& sentence) { message_->show_message(sentence, true); });
    connect(page_, &TracePage::live_failed, this, [this](const QString& sentence) {
        message_->show_message(sentence, true);
        update_status();
    });

    const Settings& settings = application_.settings();
    resize(QSize(1600, 900).boundedTo(screen()->availableSize() - QSize(20, 60)));  // leaves room for the window frame
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    page_->restore_layout(settings);
    page_->set_wheel_mode(settings.value(QStringLiteral("wheel_zooms"), false).toBool() ? WheelMode::zooms
                                                                                        : WheelMode::scrolls);
    start_->show_recent_files(settings);
    update_actions();
    update_status();
}

MainWindow::~MainWindow() {
    page_->release_feed();
    delete page_;  // its last signals use the members of the window
}

// ---- opening ----------------------------------------------------------------------------------------------------

void MainWindow::open(const QString& path) {
    if (loader_.busy() || (page_->session() && path != file_) || is_job(bytes_of_file_name(path))) {
        application_.open(path);
        return;
    }
    pending_ = path;
    message_->hide();
    loading_->start(path);
    stack_->setCurrentWidget(loading_);
    loader_.load(path);
}

void MainWindow::show_session(std::shared_ptr<Session> session, const QString& file) {
    file_ = file;
    page_->release_feed();
    page_->set_session(std::move(session));
    setWindowTitle(shown_file_name(QFileInfo(file).fileName()) + QStringLiteral(" – Tidemark"));
    setWindowFilePath(shown_file_name(file));
    stack_->setCurrentWidget(page_);
    follow_session();
    update_actions();
    update_status();
    emit trace_shown();
}

void MainWindow::follow_session() {
    Session& session = *page_->session();
    connect(&session.selection(), &Selection::time_point_changed, this, &MainWindow::update_status);
    connect(&session, &Session::grown, this, &MainWindow::update_status);
    connect(&session.time_view(), &TimeView::tail_changed, this, &MainWindow::update_actions);
    connect(&session.selection(), &Selection::history_changed, this, &MainWindow::update_actions);
    connect(&session.time_view(), &TimeView::history_changed, this, &MainWindow::update_actions);
}

void MainWindow::close_trace() {
    if (!page_->session()) {
        close();
        return;
    }
    page_->release_feed();
    before_swap_ = {};
    page_->set_session(nullptr);
    file_.clear();
    setWindowTitle(QStringLiteral("Tidemark"));
    start_->show_recent_files(application_.settings());
    stack_->setCurrentWidget(start_);
    message_->hide();
    update_actions();
    update_status();
}

void MainWindow::take_over(MainWindow& other) {
    restoreGeometry(other.saveGeometry());
    other.page_->save_layout(application_.settings());
    page_->restore_layout(application_.settings());
    if (const auto session = other.page_->shared_session()) {
        const ColorBy colors = other.page_->allocations().color_by();
        const ChangesPane::Compared compared = other.page_->changes().compared();
        before_swap_ = std::exchange(other.before_swap_, {});
        auto feed = other.page_->release_feed();
        other.page_->set_session(nullptr);
        session->rename_groups();
        show_session(session, other.file_);
        page_->set_color_by(colors);
        if (compared.other) {
            compared.other->rename_groups();
        }
        page_->changes().compare(compared);
        if (feed) {
            page_->follow(std::move(feed));
        }
    }
    if (other.record_ != nullptr && other.record_->recording() != nullptr) {
        // The dialog controls the running program, so the new window takes it over in its old language.
        record_ = std::exchange(other.record_, nullptr);
        record_->disconnect(&other);
        record_->setParent(this, record_->windowFlags());
        connect(record_, &RecordDialog::open_requested, this, &MainWindow::open);
    }
    if (other.loader_.busy()) {
        other.loader_.stop();
        open(other.pending_);
    }
}

/// B becomes the trace of the window. Of two steps only the numbers change places.
void MainWindow::swap_compared() {
    ChangesPane& changes = page_->changes();
    const ChangesPane::Compared compared = changes.compared();
    if (compared.steps) {
        changes.compare_steps({compared.steps->b, compared.steps->a});
    } else if (compared.other && changes.can_swap()) {
        const auto before = page_->shared_session();
        before_swap_ = before_swap_.session ? before_swap_ : Shown{before, file_};
        show_session(compared.other, file_name_from_bytes(compared.other->trace().path));
        changes.compare({before, before->selection().state().device, std::nullopt, std::nullopt, compared.points,
                         compared.chosen_by});
        page_->reveal_comparison();
    }
}

/// Shows the trace again that the user opened: while it is compared with an older one, the window shows that one.
void MainWindow::stop_comparing() {
    page_->changes().stop_comparing();
    const Shown opened = std::exchange(before_swap_, {});
    if (opened.session && opened.session != page_->shared_session()) {
        show_session(opened.session, opened.file);
    }
}

/// Returns the folder of the open trace, where its like are, as Compare does; otherwise the one that was used last.
QString MainWindow::folder_to_open_from() const {
    return page_->session() ? QFileInfo(file_).absolutePath()
                            : application_.settings().value(QStringLiteral("last_folder")).toString();
}

void MainWindow::ask_for_file() {
    ask_path(this, {tr("Open"), folder_to_open_from(), trace_filters(), QFileDialog::ExistingFiles},
             [this](const QStringList& files) {
                 for (const QString& file : files) {
                     application_.settings().set(QStringLiteral("last_folder"), QFileInfo(file).absolutePath());
                     open(file);
                 }
             });
}

void MainWindow::ask_for_job() {
    ask_path(this, {tr("Open the folder of a job"), folder_to_open_from(), {}, QFileDialog::Directory},
             [this](const QStringList& folders) {
                 for (const QString& job : folders) {
                     open(job);
                 }
             });
}

void MainWindow::show_record_dialog() {
    if (record_ != nullptr && !record_->can_record()) {
        delete std::exchange(record_, nullptr);  // it may have been installed meanwhile
    }
    if (record_ == nullptr) {
        record_ = new RecordDialog(application_.settings(), find_tidemark(QApplication::applicationDirPath()), this);
        connect(record_, &RecordDialog::open_requested, this, &MainWindow::open);
    }
    record_->show();
    record_->raise();
    record_->activateWindow();
}

void MainWindow::reload() {
    if (!file_.isEmpty()) {
        open(file_);
    }
}

namespace {

/// Returns a line for the start page, which has no room for the whole answer: how much memory, how fast it grows, and
/// why.
QString headline_of(const Explained& explained) {
    const auto& findings = explained.explanation.findings;
    const Words words = explained.words();
    QStringList headline;
    if (findings.empty() || findings.front().severity > Severity::waste) {
        headline << to_qstring(words.sentences(explained.explanation.answer));
    } else {
        const Finding& worst = findings.front();
        if (worst.severity != Severity::failure) {  // its title has the size
            headline << to_qstring(size_phrase(worst, words));
        }
        headline << to_qstring(worst.title);
    }
    headline.removeAll(QString());
    return headline.join(QStringLiteral(" · ")).remove(u'`');
}

}  // namespace

/// Keeps what the start page says about the file.
void MainWindow::remember_summary() {
    const Session* session = page_->session();
    const auto explained = session != nullptr ? session->explanation_source().explained() : nullptr;
    if (!explained || explained->explanation.answer.empty()) {
        return;
    }
    FileSummary summary;
    summary.headline = headline_of(*explained);
    summary.language = QLatin1String(language_name(explained->language));
    if (const auto& findings = explained->explanation.findings;
        !findings.empty() && findings.front().severity != Severity::background) {
        summary.severity = QString::fromLatin1(severity_word(findings.front().severity));
    }
    summary.device = name_text(session->device().name);
    summary.peak_bytes = session->analysis().curves().peak(Series::allocated).max;
    summary.recorded_time = session->trace().start_utc_ns / 1'000'000;
    application_.settings().remember_summary(file_, summary);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) {
        event->acceptProposedAction();
        start_->set_drop_target(true);
    }
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* /*event*/) { start_->set_drop_target(false); }

void MainWindow::dropEvent(QDropEvent* event) {
    start_->set_drop_target(false);
    event->acceptProposedAction();
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) {
            open(file_name_of_url(url));
        }
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    Settings& settings = application_.settings();
    settings.set(QStringLiteral("window/geometry"), saveGeometry());
    page_->save_layout(settings);
    QMainWindow::closeEvent(event);
}

void MainWindow::update_status() { status_->show(page_->session()); }

void MainWindow::show_about() {
    auto* box = new QMessageBox(
        QMessageBox::NoIcon, tr("About Tidemark"),
        tr("<b>Tidemark %1</b><p>Explains why GPU memory goes up and does not come back down.</p>"
           "<p>Free software under the GNU General Public License, version 3 or later. Plots by QCustomPlot %2, "
           "window by Qt %3.</p>")
            .arg(QStringLiteral(TIDEMARK_VERSION), QStringLiteral(QCUSTOMPLOT_VERSION_STR),
                 QString::fromLatin1(qVersion())),
        QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

}  // namespace tidemark::gui
