// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The Why pane: it explains a real trace, its findings change every pane, a guide shows their evidence, and its
// language is that of the window.
#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QToolButton>

#include "gui/app/application.h"
#include "gui/app/export.h"
#include "gui/app/main_window.h"
#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "gui/story/finding_body.h"
#include "gui/story/finding_card.h"
#include "gui/story/retention_path_view.h"
#include "gui/story/share_bar.h"
#include "gui/story/sparkline.h"
#include "gui/story/walk_bar.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/text_block.h"
#include "storage/read/read_graph.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/curves.h"
#include "storage/write/trace_writer.h"
#include "synthetic_trace.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

constexpr int longest_wait = 30000;  // milliseconds

/// 60 graphs that a list retains.
std::shared_ptr<Session> retained_outputs() {
    Progress progress;
    const QString examples = QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/");
    const auto opened = load_trace(examples + QStringLiteral("s01_list_of_cpu_outputs.tide"), progress);
    return opened ? opened->session : nullptr;
}

/// The same run with lines of its source: one at each line that allocates.
std::shared_ptr<Session> outputs_with_source(const QString& folder) {
    Progress progress;
    const auto example = retained_outputs();
    const auto graph = read_graph(example->trace(), progress);
    Trace trace = example->trace();
    for (FrameId id = 1; id < trace.stacks.frame_count(); ++id) {
        const Frame& frame = trace.stacks.frame(id);
        if (trace.stacks.role(id) == FrameRole::user) {
            trace.source_text.add(trace.stacks.string(frame.file), frame.line,
                                  fmt::format("    <b>line</b>({})", frame.line));
        }
    }
    trace.source_text.add("/home/anna/last.py", 9, "loss.backward(retain_graph=True)");
    const QString path = folder + QStringLiteral("/source.tide");
    const Status written =
        write_trace(trace, peak_events(trace), path.toStdString(), IfExists::fail, progress, graph->get());
    const auto opened = load_trace(path, progress);
    return written && opened ? opened->session : nullptr;
}

struct Shown {
    explicit Shown(Application& application, std::shared_ptr<Session> shown = retained_outputs())
        : window(application.open_window()), session(std::move(shown)) {
        window->resize(1600, 900);
        window->show_session(session, QStringLiteral("s01.tide"));
    }
    StoryPane& pane() { return window->page().why(); }
    const Explanation& explanation() { return session->explanation_source().explained()->explanation; }
    bool explained() {
        return QTest::qWaitFor([this] { return pane().has_explanation() && session->graph(); }, longest_wait);
    }

    MainWindow* window;
    std::shared_ptr<Session> session;
};

QString shown_text(const QWidget& pane) {
    QStringList texts;
    for (const TextBlock* block : pane.findChildren<TextBlock*>()) {
        texts << block->text();
    }
    return texts.join('\n');
}

QWidget* tab_of(const MainWindow& window) {
    return window.findChild<QTabWidget*>(QStringLiteral("drawer"))->currentWidget();
}

}  // namespace

class TestWhy : public QObject {
    Q_OBJECT
private slots:
    void a_recorded_trace_is_explained() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        QVERIFY(open.pane().note_text().isEmpty());
        const Explanation& reported = open.explanation();
        QCOMPARE(reported.summary.size(), size_t{3});
        QVERIFY(!reported.findings.empty());
        QCOMPARE(open.pane().cards().size(), reported.findings.size());
        const QString text = shown_text(open.pane());
        const auto without_marks = [](const std::string& sentence) { return to_qstring(sentence).remove('`'); };
        const QString bar = open.window->page().summary_bar().plain_text();
        QCOMPARE(reported.answer.size(), size_t{2});
        for (const std::string& sentence : reported.summary) {
            const bool is_answer =
                std::find(reported.answer.begin(), reported.answer.end(), sentence) != reported.answer.end();
            QVERIFY2((is_answer ? bar : text).contains(without_marks(sentence)), sentence.c_str());
            QVERIFY2(!(is_answer ? text : bar).contains(without_marks(sentence)), "it is shown once");
        }
        for (const Finding& finding : reported.findings) {
            QVERIFY2(text.contains(without_marks(finding.title)), finding.title.c_str());
        }
        QVERIFY(open.pane().cards().front()->is_open());
    }

    void an_open_finding_shows_the_code_and_its_change() {
        QTemporaryDir folder;
        Application application(Settings::Storage::in_memory);
        Shown open(application, outputs_with_source(folder.path()));
        QVERIFY(open.explained());
        const Finding& finding = open.explanation().findings.front();
        QVERIFY(!finding.source.empty());
        QStringList texts;
        for (const TextBlock* block : open.pane().cards().front()->findChildren<TextBlock*>()) {
            if (block->accessibleName() == QLatin1String("Source") ||
                block->accessibleName() == QLatin1String("Change of the source")) {
                texts << block->text();
                QVERIFY(block->height() >= block->heightForWidth(block->width()));
            }
        }
        QCOMPARE(texts.size(), 2);
        const int line = finding.source.line;
        QVERIFY2(texts[0].contains(QStringLiteral(">%1\n<b>line</b>(%1)").arg(line)), qPrintable(texts[0]));
        QVERIFY(texts[1].contains(QStringLiteral("last.py:9\n-loss.backward(retain_graph=True)\n+loss.backward()")));
        QVERIFY(fix_text(finding.fixes.front()).contains(QStringLiteral("\n--- last.py\n")));
    }

    void parts_of_the_memory_add_up() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const auto* bar = open.pane().findChild<ShareBar*>();
        int64_t sum = 0;
        for (const Share& share : open.explanation().shares) {
            sum += share.bytes;
            QVERIFY(bar->plain_text().contains(to_qstring(share.name)));
        }
        QCOMPARE(sum, open.explanation().total);
        QVERIFY(shown_text(*bar).contains(bytes_text(static_cast<uint64_t>(sum))));
    }

    void other_programs_do_not_take_the_bar_from_this_one() {
        constexpr int64_t gib = int64_t{1} << 30;
        Explanation explanation;
        explanation.total = 40 * gib;
        explanation.shares = {{"3 other processes", 30 * gib, 0.75, ComponentKind::other_processes},
                              {"tensors", 6 * gib, 0.15, ComponentKind::requested},
                              {"everything else", 4 * gib, 0.1}};
        ShareBar bar;
        bar.show_shares(explanation, 32 * gib);  // "everything else" has small ones, too
        QCOMPARE(bar.plain_text(), QStringLiteral("tensors: 6.00 GiB (75 %); everything else: 2.00 GiB (25 %)"));
        const QString text = shown_text(bar);
        QVERIFY2(text.contains(QStringLiteral("this program")) && text.contains(QStringLiteral("8.00 GiB")),
                 qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("other programs")) && text.contains(QStringLiteral("32.0 GiB")),
                 qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("40.0 GiB")), qPrintable(text));
    }

    void a_click_moves_every_pane() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        Session& session = *open.session;
        for (const FindingCard* card : std::vector(open.pane().cards())) {
            session.clear_selection();
            const Finding& finding = card->finding();
            const Evidence first = steps_of(*session.explanation_source().explained(), finding).front();
            const auto explained = session.explanation_source().explained();
            const auto memory = selection_of_memory(session, explained, finding);
            const SelectionState wanted = memory ? *memory : selection_of(session, explained, finding, first);
            open.pane().select_finding(card->position());
            QVERIFY(session.selection().state() == wanted);
            QCOMPARE(session.explanation_source().selected(), card->position());
            QVERIFY(card->is_open());
            if (memory) {
                continue;  // the open pane shows it
            }
            switch (shown_by(session, finding, first)) {
                case ShownBy::graph: QCOMPARE(tab_of(*open.window), &open.window->page().graph()); break;
                case ShownBy::breakdown: QCOMPARE(tab_of(*open.window), &open.window->page().breakdown()); break;
                case ShownBy::segments: QCOMPARE(tab_of(*open.window), &open.window->page().segments()); break;
                case ShownBy::any: break;
            }
        }
    }

    void in_a_low_window_each_plot_has_the_height_that_it_needs() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        open.window->resize(1000, 700);
        QVERIFY(open.explained());
        TracePage& page = open.window->page();
        QTRY_VERIFY_WITH_TIMEOUT(page.finding_plot().isVisible(), longest_wait);
        QTRY_VERIFY(!page.allocations().isVisible());
        QCOMPARE(open.window->size(), QSize(1000, 700));
        for (const TimePlot* plot : std::initializer_list<TimePlot*>{&page.timeline(), &page.finding_plot()}) {
            QTRY_VERIFY2(plot->height() >= plot->minimumHeight(), qPrintable(plot->objectName()));
            QTRY_VERIFY2(plot->axisRect()->height() >= 20, qPrintable(plot->objectName()));
        }
        QTRY_VERIFY2(page.timeline().geometry().bottom() < page.finding_plot().geometry().top(), "once laid out");
        QTRY_VERIFY2(page.finding_plot().xAxis->tickLabels(), "the lowest plot labels the time");

        open.window->resize(1600, 1000);
        QTRY_VERIFY(page.allocations().isVisible() && page.finding_plot().isVisible());
        QTRY_VERIFY(page.allocations().xAxis->tickLabels() && !page.finding_plot().xAxis->tickLabels());
    }

    void the_memory_of_a_finding_can_be_seen() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        Session& session = *open.session;
        FindingPlot& plot = open.window->page().finding_plot();
        const Finding& finding = open.pane().cards().front()->finding();
        QTRY_VERIFY_WITH_TIMEOUT(plot.isVisible(), longest_wait);  // a leak is drawn without a click
        QVERIFY(plot.curve());
        QCOMPARE(&plot.curve()->finding(), &finding);
        QVERIFY2(!session.selection().state().memory, "and nothing is dimmed");
        QCOMPARE(plot.curve()->at(session, session.time_view().whole_from()).bytes, 0);
        QCOMPARE(plot.curve()->highest(session), finding.bytes);
        const QPoint on_title(plot.width() / 2, 4);
        QMouseEvent hover(QEvent::MouseMove, on_title, plot.mapToGlobal(on_title), Qt::NoButton, Qt::NoButton,
                          Qt::NoModifier);
        QApplication::sendEvent(&plot, &hover);
        const QString title = to_qstring(finding.title).remove(u'`').toHtmlEscaped();
        const auto tips = open.window->findChildren<HoverTip*>();
        QVERIFY2(std::any_of(tips.begin(), tips.end(),
                             [&](const HoverTip* tip) {
                                 return QString(tip->text()).remove(QStringLiteral("<br>")).contains(title);
                             }),
                 "the title in full, which may be shortened in the plot");

        open.pane().select_finding(0);
        const SelectionState& state = session.selection().state();
        QVERIFY(state.memory);
        QVERIFY(*state.memory == finding.memory.allocations);
        QCOMPARE(state.time_point.event, finding.memory.event);
        QCOMPARE(plot.curve()->at(session, session.time_view().position_of(state.time_point)).bytes, finding.bytes);
        open.window->page().refresh_now();
        QVERIFY(open.window->page().allocations().picture().request.memory == state.memory);
        QVERIFY2(!open.window->page().arrangement().shows_inspector(), "nothing moves under the pointer");
        // Evidence that is a retained allocation shows it at a time when that is known.
        for (int i = 0; i < static_cast<int>(finding.evidence.size()); ++i) {
            open.pane().show_evidence(0, i);
            QVERIFY(state.memory);
            if (finding.evidence[static_cast<size_t>(i)].allocation) {
                QCOMPARE(state.time_point.event, finding.memory.event);
            }
        }
        session.clear_selection();
        QVERIFY(!state.memory);
        QVERIFY2(plot.isVisible(), "the plot stays with its card");
    }

    void the_memory_of_a_finding_is_listed() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const FindingCard* card = open.pane().cards().front();
        auto* link = card->findChild<TextBlock*>(QStringLiteral("memory"));
        QVERIFY(link != nullptr);
        emit link->anchorClicked(QUrl(QStringLiteral("memory")));
        AllocationTable& table = open.window->page().table();
        QCOMPARE(tab_of(*open.window), &table);
        QTRY_COMPARE_WITH_TIMEOUT(table.model().rowCount(), static_cast<int>(card->finding().memory.allocations.size()),
                                  longest_wait);
    }

    void another_selection_replaces_the_memory() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        open.pane().select_finding(0);
        Selection& selection = open.session->selection();
        const AllocationSet memory = selection.state().memory;
        QVERIFY(contains(memory, memory->front()) && !contains(memory, no_allocation) && !contains(nullptr, 0));
        selection.select_allocation(memory->front());
        QVERIFY2(selection.state().memory == memory, "the allocation is a part of it");
        selection.back();
        AllocationIndex outside = 0;
        while (contains(memory, outside)) {
            ++outside;
        }
        selection.select_allocation(outside);
        QVERIFY(!selection.state().memory);
        selection.back();
        QVERIFY(selection.state().memory == memory);
    }

    void mouse_and_keys_select_a_card() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        FindingCard* card = open.pane().cards().front();
        QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(20, 12));
        QCOMPARE(open.session->explanation_source().selected(), card->position());
        QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(20, 12));
        QVERIFY(!card->is_open());
        QTest::keyClick(card, Qt::Key_Right);
        QVERIFY(card->is_open());
        QTest::keyClick(card, Qt::Key_Left);
        QVERIFY(!card->is_open());
        open.session->explanation_source().select(-1);
        QTest::keyClick(card, Qt::Key_Return);
        QCOMPARE(open.session->explanation_source().selected(), card->position());
    }

    void evidence_is_a_link() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const FindingCard* card = open.pane().cards().front();
        const auto explained = open.session->explanation_source().explained();
        const auto& evidence = card->finding().evidence;
        QVERIFY(!evidence.empty());
        for (const TextBlock* block : card->findChildren<TextBlock*>()) {
            if (block->accessibleName() == QStringLiteral("Evidence") && block->focusPolicy() == Qt::StrongFocus) {
                emit const_cast<TextBlock*>(block)->anchorClicked(QUrl(QString::number(evidence.size() - 1)));
                QVERIFY(open.session->selection().state() ==
                        selection_of(*open.session, explained, card->finding(), evidence.back()));
                return;
            }
        }
        QFAIL("no links");
    }

    void the_retention_path_leads_to_nodes_and_memory() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const FindingCard* card = open.pane().cards().front();
        const std::vector<RetentionStep>& path = card->finding().path;
        QVERIFY(path.size() >= 4);
        QCOMPARE(path.front().kind, RetentionStep::Kind::reference);
        QCOMPARE(path.back().kind, RetentionStep::Kind::allocation);
        const auto* view = card->findChild<RetentionPathView*>();
        QVERIFY(view);
        const auto rows = view->findChildren<QWidget*>(QStringLiteral("step"));
        QCOMPARE(static_cast<size_t>(rows.size()), path.size());
        QCOMPARE(rows.front()->findChild<QLabel*>()->text(), bytes_text(*path.front().bytes));
        QVERIFY(rows.front()->findChild<TextBlock*>()->focusPolicy() != Qt::StrongFocus);  // shows nothing elsewhere
        emit rows.back()->findChild<TextBlock*>()->anchorClicked(QUrl(QStringLiteral("step")));
        const SelectionState state = open.session->selection().state();
        QCOMPARE(state.allocation, path.back().allocation.index);
        QCOMPARE(state.time_point.event, card->finding().memory.event);
    }

    void the_walk_visits_all_evidence() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        QTRY_VERIFY_WITH_TIMEOUT((open.window->activateWindow(), open.window->isActiveWindow()), 60000);
        const FindingCard* card = open.pane().cards().front();
        const auto explained = open.session->explanation_source().explained();
        const std::vector<Evidence> steps = steps_of(*explained, card->finding());
        QVERIFY(steps.size() > 1);
        card->findChild<QPushButton*>(QStringLiteral("show_me"))->click();
        WalkBar& walk = open.pane().walk_bar();
        QVERIFY(walk.isVisible());
        auto* next = walk.findChild<QPushButton*>(QStringLiteral("walk_next"));
        for (size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(walk.step(), static_cast<int>(i));
            QVERIFY(walk.text().contains(to_qstring(steps[i].text).remove('`')));
            QVERIFY(open.session->selection().state() ==
                    selection_of(*open.session, explained, card->finding(), steps[i]));
            if (i + 1 < steps.size()) {
                next->click();
            }
        }
        walk.findChild<QPushButton*>(QStringLiteral("walk_back"))->click();
        QCOMPARE(walk.step(), static_cast<int>(steps.size()) - 2);
        QTest::keyClick(open.window, Qt::Key_Escape);
        QVERIFY(!walk.isVisible());
        QVERIFY(open.session->explanation_source().selected() == card->position());
        open.pane().walk(card->position());
        for (size_t i = 0; i < steps.size(); ++i) {
            next->click();
        }
        QVERIFY(!walk.isVisible());
    }

    void back_returns_to_what_was_selected_before() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        open.session->selection().select_allocation(3);
        const SelectionState before = open.session->selection().state();
        SelectionState other = before;
        other.allocation = 5;
        other.range = std::pair(1.0, 2.0);
        open.session->selection().select(other);
        QVERIFY(open.session->selection().state() == other);
        open.session->selection().back();
        QVERIFY(open.session->selection().state() == before);
    }

    void recommended_fixes_can_be_copied() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const FindingCard* card = open.pane().cards().front();
        const auto& fixes = card->finding().fixes;
        QVERIFY(!fixes.empty());
        card->findChild<QToolButton*>(QStringLiteral("copy_fix"))->click();
        const QString copied = QGuiApplication::clipboard()->text();
        QVERIFY(copied.contains(to_qstring(fixes.front().text)));
        QVERIFY(copied.contains(to_qstring(fixes.front().code)));
    }

    void the_explanation_can_be_copied_and_saved() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        QVERIFY(open.window->actions().find(QStringLiteral("why.save"))->isEnabled());
        open.window->actions().find(QStringLiteral("why.copy"))->trigger();
        const auto explained = open.session->explanation_source().explained();
        const std::string& place = explained->explanation.findings.front().line;
        const size_t begin = place.rfind('_') + 1;                              // Markdown marks underscores
        const std::string line = place.substr(begin, place.find(' ') - begin);  // "outputs.py:31"
        QVERIFY(QGuiApplication::clipboard()->text().contains(to_qstring(line)));
        const QTemporaryDir folder;
        for (const char* name : {"why.html", "why.md"}) {
            const QString path = folder.filePath(QLatin1String(name));
            QVERIFY(save_text(path, explanation_document(path, *explained)));
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray written = file.readAll();
            QVERIFY2(written.contains(line.c_str()), name);
            QCOMPARE(written.contains("<html"), path.endsWith(QStringLiteral(".html")));
        }
        QVERIFY(!save_text(QStringLiteral("/nonexistent/why.html"), "x"));
    }

    void the_language_of_the_window_is_that_of_the_findings() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const auto english = open.session->explanation_source().explained();
        QVERIFY(english->language == tidemark::Language::english);
        application.set_language(QStringLiteral("zh_CN"));
        const ExplanationSource& source = open.session->explanation_source();
        QVERIFY(QTest::qWaitFor(
            [&] { return source.explained() && source.explained()->language == tidemark::Language::chinese; },
            longest_wait));
        QVERIFY(source.explained()->explanation.summary != english->explanation.summary);
        QCOMPARE(source.explained()->context, english->context);  // only the language changed
        for (QWidget* top : QApplication::topLevelWidgets()) {
            auto* window = qobject_cast<MainWindow*>(top);
            if (window && window->isVisible()) {
                QVERIFY(shown_text(window->page().why())
                            .contains(to_qstring(source.explained()->explanation.summary.front())));
            }
        }
    }

    void columns_of_a_finding_have_its_lowest_and_highest_bytes() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        Session& session = *open.session;
        session.time_view().set_axis(TimeAxis::event_index);
        const auto curve = FindingCurve::of(session.explanation_source().explained(), 0);
        QVERIFY(curve);
        const EventNumber end = session.device().event_count();
        for (const auto& [from, to] : {std::pair(0, end), std::pair(end / 3, end / 2), std::pair(end - 1, end)}) {
            int64_t lowest = curve->at(session, from).bytes, highest = lowest;
            for (EventNumber state = from; state <= to; ++state) {
                lowest = std::min(lowest, curve->at(session, state).bytes);
                highest = std::max(highest, curve->at(session, state).bytes);
            }
            const FindingCurve::Column column = curve->columns(session, from, to, 1).front();
            QCOMPARE(column.lowest, lowest);
            QCOMPARE(column.highest, highest);
        }
    }

    void the_height_of_a_text_follows_width_words_and_font() {
        TextBlock block(QStringLiteral("text"));
        block.show_html(QStringLiteral("a few words that need several lines in a narrow place"));
        const int low = block.heightForWidth(400), high = block.heightForWidth(100);
        QVERIFY(high > low);
        QCOMPARE(block.heightForWidth(400), low);
        QFont font = block.font();
        font.setPointSizeF(font.pointSizeF() * 2);
        block.setFont(font);
        QVERIFY(block.heightForWidth(100) > high);
        block.show_html(QStringLiteral("word"));
        QVERIFY(block.heightForWidth(100) < high);
    }

    void findings_come_before_the_composition() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const auto top_of = [&](const QWidget& part) { return part.mapTo(&open.pane(), QPoint(0, 0)).y(); };
        const auto* bar = open.pane().findChild<ShareBar*>();
        QTRY_VERIFY(top_of(*bar) > 0);
        for (const FindingCard* card : open.pane().cards()) {
            if (card->isVisible()) {
                QVERIFY(top_of(*card) + card->height() <= top_of(*bar));
            }
        }
    }

    void a_card_shows_the_memory_of_its_finding_over_the_run() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        const auto* curve = open.pane().cards().front()->findChild<Sparkline*>();
        QTRY_VERIFY(!curve->is_empty());
        const auto& columns = curve->shown();
        QCOMPARE(columns.size(), static_cast<size_t>(Sparkline::columns));
        const Finding& leak = open.explanation().findings.front();
        QVERIFY(columns.front().highest < leak.bytes / 10);
        QVERIFY2(columns.back().highest >= leak.bytes * 9 / 10, "the memory of a leak grows to the end");
    }

    void the_answer_has_its_room_before_it_is_known() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        const SummaryBar& bar = open.window->page().summary_bar();
        QVERIFY(bar.isVisible());
        QCOMPARE(bar.plain_text(), QStringLiteral("Explaining…"));
        const QWidget& below = open.window->page().arrangement();
        open.window->page().layout()->activate();
        const int place = below.y();
        QVERIFY(open.explained());
        QVERIFY(!bar.plain_text().contains(QStringLiteral("Explaining")));
        open.window->page().layout()->activate();
        QCOMPARE(below.y(), place);
    }

    void a_line_of_code_stays_with_its_file() {
        TextBlock block(QStringLiteral("block"));
        block.show_html(rich_text(QStringLiteral("variable of main, train.py:85")));
        const int width = block.fontMetrics().horizontalAdvance(QStringLiteral("variable of main, train.py:8"));
        block.resize(width, 100);
        QTextDocument& document = *block.document();
        document.setTextWidth(width);
        const QTextLayout& layout = *document.begin().layout();
        QVERIFY(layout.lineCount() > 1);
        const int second = layout.lineAt(1).textStart();
        QVERIFY2(document.begin().text().mid(second).startsWith(QStringLiteral("train.py")),
                 qPrintable(document.begin().text().mid(second)));
        block.selectAll();
        block.copy();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("variable of main, train.py:85"));
        QCOMPARE(block.text(), QStringLiteral("variable of main, train.py:85"));
    }

    void a_click_on_an_overview_flag_opens_its_finding() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        OverviewPlot& overview = open.window->page().overview();
        QVERIFY(open.explained());
        QVERIFY(!overview.flags().empty());
        const FindingFlag flag = overview.flags().front();
        QVERIFY(flag_tip(*open.session, flag).contains(QStringLiteral("<b>1.")));
        QTest::mouseClick(&overview, Qt::LeftButton, {}, overview.flag_box(flag).center().toPoint());
        QCOMPARE(open.session->explanation_source().selected(), flag.finding);
        QVERIFY(!selected_time_points(*open.session).empty());
        for (const FindingFlag& a : overview.flags()) {
            for (const FindingFlag& b : overview.flags()) {
                QVERIFY(a.number == b.number || !overview.flag_box(a).intersects(overview.flag_box(b)));
            }
        }
    }

    void a_flag_stands_at_the_time_that_its_card_names() {
        int between_events = 0;
        for (const char* name : {"recorded/shapes.tide", "recorded/gan.tide", "../../resources/examples/gpt2.tide"}) {
            Progress progress;
            const auto opened = load_trace(QStringLiteral(TIDEMARK_TEST_DATA "/") + QLatin1String(name), progress);
            QVERIFY(opened);
            const Session& session = *opened->session;
            ExplanationSource& source = opened->session->explanation_source();
            source.request();
            QTRY_VERIFY_WITH_TIMEOUT(source.state() == ExplanationSource::State::ready, longest_wait);
            for (const FindingFlag& flag : finding_flags(session)) {
                const auto& finding = source.explained()->explanation.findings[static_cast<size_t>(flag.finding)];
                if (finding.since) {
                    QCOMPARE(time_of(session.device(), flag.begin), *finding.since);
                    between_events += flag.begin.between ? 1 : 0;
                }
            }
        }
        QVERIFY(between_events > 0);
    }

    void the_memory_of_a_finding_ends_where_the_explanation_does() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QVERIFY(open.explained());
        Session& session = *open.session;
        const FindingPlot& plot = open.window->page().finding_plot();
        QTRY_VERIFY_WITH_TIMEOUT(plot.curve() && !plot.known_until(), longest_wait);
        const auto longer = std::make_shared<const Trace>(session.trace());
        session.grow({longer, Session::analyze(longer)}, session.device_groups());
        QVERIFY(plot.curve());
        QCOMPARE(plot.known_until(), std::optional(session.explanation_source().explained()->explanation.time));
    }

    void a_growing_run_is_explained_on_request() {
        auto session = retained_outputs();
        session->set_live(true);
        StoryPane pane;
        pane.set_session(session.get());
        ExplanationSource& source = session->explanation_source();
        QTest::qWait(300);
        QVERIFY(source.state() == ExplanationSource::State::not_requested);
        QVERIFY(!pane.note_text().isEmpty());
        pane.explain_now();
        QTRY_VERIFY_WITH_TIMEOUT(pane.has_explanation(), longest_wait);
        QVERIFY(source.is_current());
        const auto before = source.explained();
        session->set_live(false);
        QVERIFY(source.state() == ExplanationSource::State::ready);  // no event came since
        QCOMPARE(source.explained(), before);
    }

    void a_growing_run_is_explained_again_when_it_is_longer_by_half() {
        auto session = test::synthetic_session();  // less than a second
        ExplanationSource& source = session->explanation_source();
        session->set_live(true);
        const auto explains_after = [&](int64_t seconds) {
            auto longer = std::make_shared<Trace>(session->trace());
            longer->committed_time = seconds * 1'000'000'000;
            session->grow({longer, Session::analyze(longer)}, session->device_groups());
            source.explain_growth();
            const bool works = source.state() == ExplanationSource::State::working;
            while (source.state() == ExplanationSource::State::working) {
                QApplication::processEvents(QEventLoop::AllEvents, 5);
            }
            return works;
        };
        QVERIFY(!explains_after(4));
        QVERIFY(explains_after(6));
        QVERIFY(source.explained());
        QVERIFY(!explains_after(10));
        QVERIFY(explains_after(11));
        QVERIFY(explains_after(100));
        QVERIFY(!explains_after(149));
        QVERIFY(explains_after(151));
    }

    void a_run_is_explained_when_it_has_ended() {
        auto session = retained_outputs();
        session->set_live(true);
        StoryPane pane;
        pane.set_session(session.get());
        session->set_live(false);
        QTRY_VERIFY_WITH_TIMEOUT(pane.has_explanation(), longest_wait);
    }

    void the_pane_hides_and_comes_back() {
        Application application(Settings::Storage::in_memory);
        Shown open(application);
        QAction* action = open.window->actions().find(QStringLiteral("view.why"));
        QVERIFY(open.pane().isVisible() && action->isChecked());
        action->trigger();
        QVERIFY(!open.pane().isVisible() && !action->isChecked());
        open.window->close();
        MainWindow* again = application.open_window();
        again->show_session(test::synthetic_session(), QStringLiteral("synthetic.tide"));
        QVERIFY(!again->page().why().isVisible());
        again->actions().find(QStringLiteral("view.why"))->trigger();
        QVERIFY(again->page().why().isVisible());
        again->resize(1500, 800);
        QTRY_VERIFY(again->page().why().isVisible());
        again->resize(900, 700);
        QTRY_VERIFY(!again->page().why().isVisible());
        QVERIFY(again->page().arrangement().wants_story());
        again->resize(1500, 800);
        QTRY_VERIFY(again->page().why().isVisible());
    }
};

QTEST_MAIN(TestWhy)
#include "test_why.moc"
