// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The histograms: bins, brushes by pointer and keys, the part of the other histogram, and the selection.
#include <QSignalSpy>
#include <QTest>

#include "gui/histograms/histograms_pane.h"
#include "tests/gui/synthetic_trace.h"

namespace tidemark::gui {

using Rows = std::vector<AllocationIndex>;

class TestHistograms : public QObject {
    Q_OBJECT

    /// A pane that shows the whole run.
    struct Shown {
        std::shared_ptr<Session> session = test::synthetic_session();
        HistogramsPane pane;

        Shown() {
            pane.resize(900, 240);
            pane.set_session(session.get());
            pane.set_memory(HistogramMemory::in_view);
            pane.show();
        }
        const Histograms& histograms() {
            Progress progress;
            return numbers = Histograms(session->device(), active_within(session->device().allocations, 0,
                                                                         session->device().event_count()));
        }
        const AllocationSet& selected() const { return session->selection().state().memory; }
        Histograms numbers;
    };

    static void settle(const HistogramsPane& pane) { QTRY_VERIFY(!pane.busy()); }

private slots:
    void shows_everything_in_the_visible_range() {
        Shown shown;
        settle(shown.pane);
        const HistogramAmount total = shown.histograms().total();
        QVERIFY(total.allocations > 0);
        QCOMPARE(shown.pane.summary(), amount_text(total));
        const QString name = shown.pane.sizes().accessibleName();
        QVERIFY2(name.contains(amount_text(total)), qPrintable(name));
        shown.session->time_view().show(0, shown.session->time_view().whole_to() / 20);
        QTRY_VERIFY(shown.pane.summary() != amount_text(total));
    }

    void keys_brush_bins_and_select_their_allocations() {
        Shown shown;
        settle(shown.pane);
        QSignalSpy selected(&shown.pane, &HistogramsPane::memory_selected);
        const Histograms& numbers = shown.histograms();
        const size_t last = numbers.sizes().size() - 1;
        QTest::keyClick(&shown.pane.sizes(), Qt::Key_End);
        QCOMPARE(selected.size(), 1);
        QVERIFY(shown.selected() != nullptr);
        QCOMPARE(*shown.selected(), numbers.allocations_in(BinRange{last, last}, {}));
        QVERIFY2(shown.session->selection().state().memory_name.startsWith("size "),
                 qPrintable(shown.session->selection().state().memory_name));
        QTest::keyClick(&shown.pane.sizes(), Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(*shown.pane.sizes().brush(), (BinRange{last - 1, last}));
        QCOMPARE(*shown.selected(), numbers.allocations_in(BinRange{last - 1, last}, {}));
        const QString name = shown.pane.sizes().accessibleName();
        QVERIFY2(name.contains(shown.pane.sizes().range_text({last - 1, last})), qPrintable(name));
        QTest::keyClick(&shown.pane.sizes(), Qt::Key_Escape);
        QVERIFY(shown.selected() == nullptr);
        QVERIFY(!shown.pane.has_brush());
    }

    void a_drag_brushes_and_both_histograms_narrow_each_other() {
        Shown shown;
        settle(shown.pane);
        const Histograms& numbers = shown.histograms();
        HistogramView& lifetimes = shown.pane.lifetimes();
        const size_t never = numbers.lifetimes().size() - 1;
        QTest::mouseClick(&lifetimes, Qt::LeftButton, {}, lifetimes.bin_rect(never).center().toPoint());
        QCOMPARE(*shown.selected(), numbers.allocations_in({}, BinRange{never, never}));
        QCOMPARE(shown.session->selection().state().memory_name, QStringLiteral("never freed"));
        const size_t last = numbers.sizes().size() - 1;
        HistogramView& sizes = shown.pane.sizes();
        const auto place = [&](size_t bin) { return sizes.bin_rect(bin).center().toPoint(); };
        QTest::mousePress(&sizes, Qt::LeftButton, {}, place(0));
        QTest::mouseMove(&sizes, place(last));
        QCOMPARE(*shown.selected(), numbers.allocations_in({}, BinRange{never, never}));
        QTest::mouseRelease(&sizes, Qt::LeftButton, {}, place(last));
        QCOMPARE(*sizes.brush(), (BinRange{0, last}));
        QCOMPARE(*shown.selected(), numbers.allocations_in(BinRange{0, last}, BinRange{never, never}));
        QVERIFY(shown.session->selection().state().memory_name.contains("never freed"));
        shown.pane.clear_brush();
        QVERIFY(shown.selected() == nullptr);
    }

    void a_click_on_the_only_brushed_bin_clears_it() {
        Shown shown;
        settle(shown.pane);
        HistogramView& sizes = shown.pane.sizes();
        const QPoint place = sizes.bin_rect(0).center().toPoint();
        QTest::mouseClick(&sizes, Qt::LeftButton, {}, place);
        QVERIFY(shown.pane.has_brush());
        QTest::mouseClick(&sizes, Qt::LeftButton, {}, place);
        QVERIFY(!shown.pane.has_brush());
    }

    void what_others_select_ends_the_brush_and_can_be_counted() {
        Shown shown;
        settle(shown.pane);
        QTest::keyClick(&shown.pane.sizes(), Qt::Key_Home);
        QVERIFY(shown.pane.has_brush());
        const auto finding = std::make_shared<const Rows>(Rows{0, 1, 2});
        shown.session->selection().select_memory(finding, "a finding");
        QVERIFY(!shown.pane.has_brush());
        shown.pane.set_memory(HistogramMemory::of_finding);
        QTRY_VERIFY2(shown.pane.summary().startsWith("3 "), qPrintable(shown.pane.summary()));
        QTest::keyClick(&shown.pane.lifetimes(), Qt::Key_Home);
        QVERIFY(shown.selected() != finding);
        QTest::keyClick(&shown.pane.lifetimes(), Qt::Key_Escape);
        QVERIFY2(shown.selected() == finding, "the whole is selected again");
        QCOMPARE(shown.session->selection().state().memory_name, QStringLiteral("a finding"));
    }

    void a_brush_follows_the_cursor_without_steps_in_the_history() {
        Shown shown;
        shown.pane.set_memory(HistogramMemory::at_cursor);
        shown.session->selection().set_time_point(shown.session->device().event_count());
        settle(shown.pane);
        QTest::keyClick(&shown.pane.lifetimes(), Qt::Key_End);
        const size_t at_end = shown.selected()->size();
        shown.session->selection().set_time_point(shown.session->device().event_count() / 2);
        QTRY_VERIFY(shown.selected()->size() < at_end);
        QVERIFY(shown.pane.has_brush());
        shown.session->selection().back();
        QVERIFY(shown.selected() == nullptr);
    }

    void lifetimes_are_in_iterations_where_something_repeats() {
        Shown shown;
        settle(shown.pane);
        shown.pane.set_by_iterations(true);
        settle(shown.pane);
        QCOMPARE(shown.pane.lifetimes().kind(), HistogramOf::iterations);
        QVERIFY2(shown.pane.lifetimes().accessibleName().startsWith("Lifetime in iterations"),
                 qPrintable(shown.pane.lifetimes().accessibleName()));
    }

    void the_value_of_the_highest_bar_is_beside_the_bars() {
        Shown shown;
        settle(shown.pane);
        const std::vector<HistogramAmount> amounts = shown.histograms().by_size();
        HistogramView& sizes = shown.pane.sizes();
        for (const int width : {450, 700, 900}) {
            sizes.resize(width, 200);
            const QRectF place = sizes.place_of_highest(QStringLiteral("12"));
            QVERIFY(QRectF(sizes.rect()).contains(place));
            for (size_t bin = 0; bin < amounts.size(); ++bin) {
                QVERIFY2(amounts[bin].allocations == 0 || !sizes.bar_rect(bin, amounts[bin]).intersects(place),
                         qPrintable(QStringLiteral("width %1, bin %2").arg(width).arg(bin)));
            }
        }
    }

    void words_of_bins() {
        QCOMPARE(bin_text(HistogramOf::size, {1 << 20, 1398102}, {1398102, 1 << 21}), QStringLiteral("1 MiB to 2 MiB"));
        QCOMPARE(bin_text(HistogramOf::lifetime, {1000, 2000}, {1000, 2000}), QStringLiteral("1 µs to 2 µs"));
        QCOMPARE(bin_text(HistogramOf::iterations, {4, 6}, {4, 6}), QStringLiteral("4 to 5 iterations"));
        QCOMPARE(bin_text(HistogramOf::lifetime, {1000, 2000}, {0, 0, true}),
                 QStringLiteral("1 µs or longer, or never freed"));
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestHistograms)
#include "test_histograms.moc"
