// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The flags of findings in the overview of the whole run.
#include <QImage>
#include <QTest>
#include <algorithm>

#include "gui/app/loader.h"
#include "gui/model/explained.h"
#include "gui/model/palette.h"
#include "gui/timeline/overview_plot.h"
#include "gui/widgets/severity_mark.h"

namespace tidemark::gui {

namespace {

constexpr int longest_wait = 30000;  // milliseconds

/// Returns an explained example, of which some findings are nothing but background.
std::shared_ptr<Session> explained_example(const char* name) {
    Progress progress;
    const auto opened =
        load_trace(QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/") + QLatin1String(name), progress);
    if (!opened) {
        return nullptr;
    }
    ExplanationSource& source = opened->session->explanation_source();
    source.request();
    return QTest::qWaitFor([&] { return source.state() == ExplanationSource::State::ready; }, longest_wait)
               ? opened->session
               : nullptr;
}

/// Returns how many pixels on the lower edge of a flag have this color.
int edge_pixels(const QImage& image, const QRectF& flag, const QColor& color) {
    const int y = qRound(flag.bottom());
    int pixels = 0;
    for (int x = qRound(flag.left()); x <= qRound(flag.right()); ++x) {
        pixels += image.pixel(x, y) == color.rgb() ? 1 : 0;
    }
    return pixels;
}

}  // namespace

class TestOverview : public QObject {
    Q_OBJECT
private slots:
    void each_finding_has_a_flag_in_the_color_of_its_severity() {
        const auto session = explained_example("s01_list_of_cpu_outputs.tide");
        QVERIFY(session);
        OverviewPlot overview;
        overview.resize(900, 80);
        overview.set_session(session.get());
        const auto& findings = session->explanation_source().explained()->explanation.findings;
        const auto shown = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
            return finding.severity != Severity::background;
        });
        QVERIFY2(shown > 0 && shown < static_cast<int64_t>(findings.size()), "some are background");
        QCOMPARE(static_cast<int64_t>(overview.flags().size()), shown);
        session->explanation_source().select(-1);
        const QImage image = overview.grab().toImage();
        for (const FindingFlag& flag : overview.flags()) {
            const QColor color = severity_color(Theme::current(), flag.severity);
            QVERIFY2(edge_pixels(image, overview.flag_box(flag), color) > 15, qPrintable(color.name()));
        }
    }

    void the_selected_finding_has_a_flag_in_the_color_of_the_selection() {
        const auto session = explained_example("s01_list_of_cpu_outputs.tide");
        QVERIFY(session);
        OverviewPlot overview;
        overview.resize(900, 80);
        overview.set_session(session.get());
        const FindingFlag flag = overview.flags().front();
        const QColor color = Theme::current().selection;
        session->explanation_source().select(-1);
        QCOMPARE(edge_pixels(overview.grab().toImage(), overview.flag_box(flag), color), 0);
        session->explanation_source().select(flag.finding);
        QVERIFY(edge_pixels(overview.grab().toImage(), overview.flag_box(flag), color) > 15);
    }

    void flags_stay_within_the_plot_and_beside_each_other() {
        for (const char* name : {"s01_list_of_cpu_outputs.tide", "gpt2.tide"}) {
            const auto session = explained_example(name);
            QVERIFY(session);
            OverviewPlot overview;
            overview.set_session(session.get());
            QVERIFY(!overview.flags().empty());
            for (const int width : {300, 600, 1500}) {
                overview.resize(width, 80);
                for (const FindingFlag& a : overview.flags()) {
                    const QRectF box = overview.flag_box(a);
                    QVERIFY(QRectF(overview.rect()).contains(box));
                    for (const FindingFlag& b : overview.flags()) {
                        QVERIFY(a.number == b.number || !box.intersects(overview.flag_box(b)));
                    }
                }
            }
        }
    }
};

}  // namespace tidemark::gui

QTEST_MAIN(tidemark::gui::TestOverview)
#include "test_overview.moc"
