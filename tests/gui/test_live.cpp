// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A window that shows a run during its recording: the tail, freezing, a stable view, the end, the breakdown.
#include <QComboBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <thread>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/breakdown/breakdown_plot.h"
#include "gui/model/text.h"
#include "live_run.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

/// Records in the background until it is destroyed.
class Run {
public:
    explicit Run(const QString& path, double seconds = 30) {
        shape_.seconds = seconds;
        shape_.events_before = 2000;
        shape_.events_per_second = 4000;
        thread_ = std::thread([this, path] { done_ = bool(test::write_live_run(path.toStdString(), shape_, stop_)); });
    }
    ~Run() { end(); }
    void end() {
        stop_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    test::LiveRunShape shape_;
    std::atomic<bool> stop_{false}, done_{false};
    std::thread thread_;
};

MainWindow* open_live(Application& application, const QString& path) {
    if (!QTest::qWaitFor([&] { return is_being_written(path.toStdString()); }, 5000)) {
        return nullptr;
    }
    MainWindow* window = application.open_window();
    QSignalSpy shown(window, &MainWindow::trace_shown);
    window->open(path);
    const bool open = shown.wait(10000) && QTest::qWaitFor([&] {
                          return window->page().live() != nullptr && window->page().session()->has_device();
                      });
    return open ? window : nullptr;
}

}  // namespace

class TestLive : public QObject {
    Q_OBJECT
private slots:
    void the_tail_is_followed_until_the_view_is_moved() {
        Run run(path("tail"));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("tail"));
        QVERIFY(window);
        Session& session = *window->page().session();
        TimeView& view = session.time_view();
        QVERIFY(view.follows_tail());
        const double before = view.to();
        const EventNumber events = session.device().event_count();
        QTRY_VERIFY(view.to() > before && session.device().event_count() > events);
        QCOMPARE(session.selection().state().time_point.event, session.device().event_count());

        view.show(0, view.whole_to() / 4);
        QVERIFY(!view.follows_tail());
        const double from = view.from(), to = view.to();
        const EventNumber then = session.device().event_count();
        session.selection().select_allocation(7);
        const EventNumber time_point = session.selection().state().time_point.event;
        QTRY_VERIFY(session.device().event_count() > then + 400);
        QCOMPARE(view.from(), from);
        QCOMPARE(view.to(), to);
        QCOMPARE(session.selection().state().allocation, AllocationIndex{7});
        QCOMPARE(session.selection().state().time_point.event, time_point);

        view.set_tail_length(200'000'000);
        QTRY_VERIFY(view.follows_tail() && view.to() > to && view.span() < 260e6);
    }

    void a_frozen_window_stays_and_then_catches_up() {
        Run run(path("frozen"));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("frozen"));
        QVERIFY(window);
        window->page().live()->set_frozen(true);
        QTest::qWait(700);  // deliveries in progress
        const EventNumber events = window->page().session()->device().event_count();
        QTest::qWait(900);
        QCOMPARE(window->page().session()->device().event_count(), events);
        window->page().live()->set_frozen(false);
        QTRY_VERIFY(window->page().session()->device().event_count() > events + 1000);
    }

    void colors_and_grouping_stay() {
        Run run(path("colors"));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("colors"));
        QVERIFY(window);
        Session& session = *window->page().session();
        window->page().set_group_by({GroupBy::line});
        const EventNumber before = session.device().event_count();
        QTRY_VERIFY(session.device().event_count() > before + 800);
        const std::vector<std::string> names = session.grouping().names;
        const EventNumber then = session.device().event_count();
        QTRY_VERIFY(session.device().event_count() > then + 800);
        QCOMPARE(session.group_by(), GroupBy::line);
        int same = 0;
        for (size_t i = 0; i < names.size() && i < session.grouping().names.size(); ++i) {
            same += names[i] == session.grouping().names[i];
        }
        QVERIFY(same + 2 >= static_cast<int>(names.size()));
    }

    /// A new explanation would take away what the user reads, or move links below the pointer.
    void a_story_that_is_read_stays() {
        Run run(path("story"));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("story"));
        QVERIFY(window);
        window->resize(1600, 1000);
        QTRY_VERIFY(window->page().why().isVisible());
        const Session& session = *window->page().session();
        ExplanationSource& source = window->page().session()->explanation_source();
        QTRY_VERIFY_WITH_TIMEOUT(source.explained() != nullptr, 20000);
        QTRY_VERIFY(source.state() == ExplanationSource::State::ready);

        QTest::mouseMove(window->windowHandle(), center_of(window->page().why()));
        QTRY_VERIFY(window->page().why().underMouse());
        const auto read = source.explained();
        const int64_t enough = session.known_time() * 3 / 2 + 6'000'000'000;
        QTRY_VERIFY_WITH_TIMEOUT(session.known_time() > enough, 30000);
        QVERIFY2(source.explained() == read, "explained again below the pointer");

        QTest::mouseMove(window->windowHandle(), center_of(window->page().timeline()));
        QTRY_VERIFY(!window->page().why().underMouse());
        QTRY_VERIFY_WITH_TIMEOUT(source.explained() != read, 20000);
    }

    void the_end_is_shown_and_the_trace_is_an_ordinary_one() {
        Run run(path("end"));
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("end"));
        QVERIFY(window);
        QVERIFY(window->actions().find(QStringLiteral("live.tail"))->isEnabled());
        run.end();
        QTRY_VERIFY(window->page().live() == nullptr);
        QVERIFY(!window->page().session()->is_live());
        QVERIFY(window->page().session()->trace().clean_end);
        QVERIFY2(window->message().text().contains(QStringLiteral("The program exited.")),
                 qPrintable(window->message().text()));
        QVERIFY(!window->actions().find(QStringLiteral("live.tail"))->isEnabled());
    }

    void the_breakdown_adds_up_on_screen() {
        Run run(path("breakdown"), 1.5);
        Application application(Settings::Storage::in_memory);
        MainWindow* window = open_live(application, path("breakdown"));
        QVERIFY(window);
        QTRY_VERIFY_WITH_TIMEOUT(window->page().live() == nullptr, 10000);
        window->page().show_pane(window->page().breakdown());
        BreakdownPane& pane = window->page().breakdown();
        BreakdownModel& model = pane.model();
        QTRY_VERIFY(model.rowCount() > 4 && model.row()->device_used);
        qulonglong sum = 0;
        for (int row = 0; row + 1 < model.rowCount(); ++row) {
            sum += model.index(row, BreakdownModel::bytes).data(exact_text_role).toULongLong();
            QVERIFY(!model.index(row, BreakdownModel::component).data().toString().isEmpty());
            QVERIFY(model.index(row, 0).data(Qt::ToolTipRole).toString().size() > 60);
        }
        const int last = model.rowCount() - 1;
        QCOMPARE(sum, model.index(last, BreakdownModel::bytes).data(exact_text_role).toULongLong());
        QCOMPARE(sum, static_cast<qulonglong>(*model.row()->device_used));
        QCOMPARE(model.index(last, BreakdownModel::bytes).data(BreakdownModel::to_role).toDouble(), 1.0);
        QTRY_VERIFY(!pane.plot().picture().components.empty());
    }

    void without_samples_the_breakdown_says_what_a_recording_adds() {
        BreakdownPane pane;
        const auto session = test::synthetic_session();
        pane.set_session(session.get());
        pane.resize(1200, 300);
        pane.show();
        QTRY_VERIFY(pane.model().rowCount() > 0);
        const auto labels = pane.findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
                            [](const QLabel* l) { return l->text().contains(QStringLiteral("Record…")); }));
    }

private:
    static QPoint center_of(const QWidget& part) { return part.mapTo(part.window(), part.rect().center()); }
    QString path(const char* name) const { return folder_.filePath(QString::fromLatin1(name) + ".tide"); }
    QTemporaryDir folder_;
};

QTEST_MAIN(TestLive)
#include "test_live.moc"
