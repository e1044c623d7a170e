// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The What if pane: controls that begin with the recorded settings, the replay, its figures and the variable.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGuiApplication>
#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "gui/model/text.h"
#include "gui/whatif/reserved_plot.h"
#include "gui/whatif/settings_bar.h"
#include "gui/whatif/whatif_pane.h"
#include "tests/gui/view_fixture.h"

namespace tidemark::gui {

using namespace tidemark::gui::test;

class TestWhatIf : public QObject {
    Q_OBJECT

    std::unique_ptr<Session> session_;
    std::unique_ptr<WhatIfPane> pane_;

    void open(const char* name) {
        pane_.reset();
        session_ = recorded_session(name);
        if (!session_) {
            QSKIP("no recorded snapshots");
        }
        pane_ = std::make_unique<WhatIfPane>();
        pane_->resize(1000, 300);
        pane_->set_session(session_.get());
        pane_->show();
        QTRY_VERIFY(pane_->shown() && !pane_->busy());
    }
    QString cell(int row, int column) const {
        const auto* model = pane_->findChild<QTableView*>()->model();
        return model->index(row, column).data().toString();
    }
    QToolButton* button(const QString& text) const {
        for (QToolButton* each : pane_->findChildren<QToolButton*>()) {
            if (each->text() == text) {
                return each;
            }
        }
        return nullptr;
    }

private slots:
    void it_begins_with_the_recorded_settings() {
        open("frag_oom");
        QVERIFY(pane_->shown()->asked);
        QCOMPARE(pane_->shown()->asked->figures.peak_reserved,
                 session_->analysis().curves().peak(Series::reserved).max);
        QCOMPARE(cell(0, 1), cell(0, 2));
        QCOMPARE(cell(0, 3), QStringLiteral("0"));
        QVERIFY2(cell(0, 0) == QStringLiteral("Peak reserved"), "nothing about memory that both runs had");
        QVERIFY(!button(QStringLiteral("Reset"))->isEnabled());
        QCOMPARE(pane_->variable(), QStringLiteral("export PYTORCH_CUDA_ALLOC_CONF="));
        QVERIFY(pane_->result().contains(QStringLiteral("with the recorded settings")));
    }

    void a_change_is_replayed_and_undone() {
        open("s3_varlen");
        const int64_t before = pane_->shown()->asked->figures.peak_reserved;
        pane_->findChild<QCheckBox*>()->click();
        QTRY_VERIFY(pane_->shown()->asked && !pane_->busy() && pane_->shown()->asked->figures.peak_reserved != before);
        QVERIFY(pane_->variable().endsWith(QStringLiteral("=expandable_segments:True")));
        QCOMPARE(cell(0, 2), bytes_text(pane_->shown()->asked->figures.peak_reserved));
        button(QStringLiteral("Copy"))->click();
        QCOMPARE(QGuiApplication::clipboard()->text(), pane_->variable());
        button(QStringLiteral("Reset"))->click();
        QTRY_VERIFY(!pane_->busy() && pane_->shown()->asked->figures.peak_reserved == before);
        QVERIFY(!pane_->findChild<QCheckBox*>()->isChecked());
    }

    void a_small_limit_shows_the_event_that_fails() {
        open("streams");
        pane_->findChild<QDoubleSpinBox*>()->setValue(0.02);
        QTRY_VERIFY(!pane_->busy() && pane_->shown()->asked && pane_->shown()->asked->figures.failed);
        const EventNumber event = pane_->shown()->asked->figures.failed->event;
        auto* result = pane_->findChild<QLabel*>(QStringLiteral("result"));
        QVERIFY(result->text().contains(QStringLiteral("href")));
        emit result->linkActivated(QStringLiteral("event"));
        QCOMPARE(session_->selection().state().time_point, TimePoint(event));
    }

    void garbage_collection_without_a_limit_says_what_to_do() {
        open("streams");
        for (QComboBox* box : pane_->findChildren<QComboBox*>()) {
            if (box->accessibleName() == QStringLiteral("Garbage collection")) {
                box->setCurrentIndex(2);
            }
        }
        QTRY_VERIFY(!pane_->busy() && pane_->shown()->error);
        QVERIFY(pane_->result().contains(QStringLiteral("memory limit")));
        pane_->findChild<QDoubleSpinBox*>()->setValue(64);
        QTRY_VERIFY(!pane_->busy() && !pane_->shown()->error);
    }

    void the_axis_fits_the_recorded_memory_before_the_replay() {
        const auto session = recorded_session("streams");
        if (!session) {
            QSKIP("no recorded snapshots");
        }
        WhatIfPane pane;
        pane.set_session(session.get());
        QVERIFY(!pane.shown());
        const double top = pane.findChild<ReservedPlot*>()->yAxis->range().upper;
        const auto peak = static_cast<double>(session->analysis().curves().peak(Series::reserved).max);
        QVERIFY(top > peak && top < 2 * peak);
    }

    void a_program_without_the_allocator_has_nothing_to_change() {
        open("streams");
        QVERIFY(pane_->findChild<QCheckBox*>()->isEnabled());
        Trace other = session_->trace();
        other.event_source = EventSource::driver;
        const auto trace = std::make_shared<const Trace>(other);
        const Session of_driver(trace, Session::analyze(trace));
        pane_->set_session(const_cast<Session*>(&of_driver));
        QTRY_VERIFY(pane_->shown() && pane_->shown()->error);
        QVERIFY(!pane_->findChild<QCheckBox*>()->isEnabled());
        pane_->set_session(session_.get());
        QTRY_VERIFY(pane_->shown() && pane_->shown()->asked);
        QVERIFY(pane_->findChild<QCheckBox*>()->isEnabled());
    }

    void the_free_memory_of_expandable_segments_is_explained() {
        open("streams");
        const auto explains = [&] {
            const auto labels = pane_->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("counts as free gaps"));
            });
        };
        QVERIFY(!explains());
        const int64_t before = pane_->shown()->asked->figures.gaps_at_end.bytes;
        pane_->findChild<QCheckBox*>()->click();
        QTRY_VERIFY(pane_->shown()->asked && !pane_->busy());
        QCOMPARE(explains(), pane_->shown()->asked->figures.gaps_at_end.bytes > before);
    }

    void a_low_pane_shows_every_row_of_the_table() {
        open("streams");
        auto* table = pane_->findChild<QTableView*>();
        const int last = table->model()->rowCount() - 1, usual = table->rowHeight(last);
        pane_->resize(1000, 200);
        QTRY_VERIFY(table->rowViewportPosition(last) + table->rowHeight(last) <= table->viewport()->height());
        QVERIFY(table->rowHeight(last) >= table->fontMetrics().height());
        pane_->resize(1000, 500);
        QTRY_COMPARE(table->rowHeight(last), usual);
    }

    void an_event_that_fails_is_readable_in_the_table() {
        open("streams");
        pane_->findChild<QDoubleSpinBox*>()->setValue(0.02);
        QTRY_VERIFY(!pane_->busy() && pane_->shown()->asked && pane_->shown()->asked->figures.failed);
        const auto* table = pane_->findChild<QTableView*>();
        const QString text = cell(0, 2);
        QVERIFY(text.startsWith(QStringLiteral("at event")));
        QVERIFY(table->columnWidth(2) >= table->fontMetrics().horizontalAdvance(text) + 12);
    }

    void a_narrow_plot_names_all_that_it_shows() {
        open("streams");
        for (const int width : {360, 500, 900}) {
            ReservedPlot narrow;
            narrow.set_session(session_.get());
            narrow.show_replay(pane_->shown());
            narrow.resize(width, 200);
            narrow.grab();  // lays it out
            const QStringList key = narrow.key();
            QCOMPARE(key.size(), 3);
            int pixels = 0;
            for (const QString& name : key) {
                pixels += narrow.fontMetrics().horizontalAdvance(name);
            }
            QCOMPARE(key.contains(QStringLiteral("reserved, recorded")), width == 900);
            QVERIFY2(pixels < width - TimePlot::left_margin - TimePlot::right_margin, qPrintable(key.join(u',')));
        }
    }

    /// A curve that leaves the plot must not be drawn over the labels of the axis.
    void what_is_outside_is_clipped() {
        open("streams");
        auto* plot = pane_->findChild<ReservedPlot*>();
        const double top = plot->yAxis->range().upper;
        plot->show_bytes(0.6 * top, top);
        plot->refresh_now();
        const QImage image = plot->grab().toImage();
        const QRect area = plot->axisRect()->rect();
        const QRgb line = Theme::current().reserved_line.rgb();
        int inside = 0, outside = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                const bool is_line = image.pixel(x, y) == line;
                inside += is_line && area.contains(x, y) ? 1 : 0;
                outside += is_line && y > area.bottom() + 1 ? 1 : 0;
            }
        }
        QVERIFY(inside > 0);
        QCOMPARE(outside, 0);
    }

    void the_plot_draws_both_curves() {
        open("varlen_expandable");
        auto* plot = pane_->findChild<ReservedPlot*>();
        QVERIFY(has_content(plot->grab().toImage()));
        pane_->findChild<QCheckBox*>()->click();
        QTRY_VERIFY(!pane_->busy() && pane_->shown()->asked);
        QVERIFY(has_content(plot->grab().toImage()));
        pane_->set_session(nullptr);
        QVERIFY(pane_->result().contains(QStringLiteral("No trace")));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestWhatIf)
#include "test_whatif.moc"
