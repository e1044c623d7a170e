// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The view of a job: rows and their colors, selection by finding, mouse and keyboard.
#include <QCheckBox>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>

#include "gui/job/job_view.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

constexpr int64_t MiB = 1 << 20, second = 1'000'000'000;

/// Rank i begins i seconds later and has (i + 1) * 100 MiB in its second half.
JobMember member(int64_t rank) {
    JobMember made;
    made.path = "/job/rank" + std::to_string(rank) + ".tide";
    made.has_rank = true;
    made.summary = ProcessSummary();
    made.summary->place.rank = rank;
    made.summary->start_utc_ns = 1000 * second + rank * second;
    made.summary->duration = 10 * second;
    DeviceSummary device;
    device.total_bytes = 1000 * MiB;
    device.peak_allocated = (rank + 1) * 100 * MiB;
    device.allocated_at_end = (8 - rank) * 10 * MiB;
    device.allocated.assign(DeviceSummary::columns, 0);
    std::fill(device.allocated.begin() + DeviceSummary::columns / 2, device.allocated.end(), device.peak_allocated);
    device.reserved = device.allocated;
    device.used.assign(DeviceSummary::columns, -1);
    made.summary->devices.push_back(std::move(device));
    return made;
}

std::shared_ptr<const ExplainedJob> job_of(int64_t ranks) {
    auto explained = std::make_shared<ExplainedJob>();
    for (int64_t rank = 0; rank < ranks; ++rank) {
        explained->job.members.push_back(member(rank));
    }
    JobFinding finding;
    finding.kind = JobFindingKind::rank_growth;
    finding.severity = Severity::leak;
    finding.members = {2};
    finding.title = "rank 2 retains more";
    finding.line = "<train>.py:3 main";
    explained->explanation.findings.push_back(finding);
    explained->explanation.summary = {"The job: 4 ranks."};
    return explained;
}

QCheckBox& box_named(const JobView& view, const QString& part) {
    const auto boxes = view.findChildren<QCheckBox*>();
    return **std::find_if(boxes.begin(), boxes.end(), [&](const QCheckBox* box) { return box->text().contains(part); });
}

}  // namespace

class JobTest : public QObject {
    Q_OBJECT
private slots:
    void init();
    void rows_have_the_values_of_their_time();
    void rows_are_sorted();
    void the_busy_part_begins_with_the_first_memory();
    void the_finding_is_selected_with_a_rank_to_compare();
    void without_a_finding_four_ranks_are_shown();
    void curves_stand_apart_on_one_time_axis();
    void a_late_start_is_left_out();
    void a_click_selects_and_a_double_click_opens();
    void keys_move_and_open();
    void the_story_links_to_ranks();

private:
    QPoint center_of(int row) const;
    std::unique_ptr<JobView> view_;
};

void JobTest::init() {
    view_ = std::make_unique<JobView>();
    view_->resize(1200, 800);
    view_->show();
    view_->show_job(job_of(4));
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    QCoreApplication::processEvents();
}

QPoint JobTest::center_of(int row) const {
    const QRect plot = view_->map().plot();
    constexpr int row_height = 44;  // four rows have their greatest height
    return {plot.center().x(), plot.top() + row * row_height + row_height / 2};
}

void JobTest::rows_have_the_values_of_their_time() {
    const JobRows rows(job_of(4), JobValue::allocated, JobOrder::rank, false);
    QCOMPARE(rows.size(), 4);
    QCOMPARE(rows.span(), (std::pair<int64_t, int64_t>{1000 * second, 1013 * second}));
    QCOMPARE(rows.value_at(1, 1000 * second), std::optional<int64_t>());  // rank 1 begins a second later
    QCOMPARE(rows.value_at(1, 1002 * second), std::optional<int64_t>(0));
    QCOMPARE(rows.value_at(1, 1007 * second), std::optional<int64_t>(200 * MiB));
    QCOMPARE(rows.value_at(0, 1011 * second), std::optional<int64_t>());
    QCOMPARE(rows.highest(0), 400 * MiB);
    const JobRows used(job_of(4), JobValue::used, JobOrder::rank, false);
    QCOMPARE(used.value_at(1, 1007 * second), std::optional<int64_t>());  // unknown
    QCOMPARE(used.highest(0), 1000 * MiB);
    QCOMPARE(rows.severities(2), std::vector{Severity::leak});
    QCOMPARE(rows.severities(1), std::vector<Severity>());
    auto failed = std::make_shared<ExplainedJob>(*job_of(4));
    auto& findings = failed->explanation.findings;
    findings.push_back(findings.front());
    findings.insert(findings.begin(), findings.front());
    findings.front().severity = Severity::failure;
    const JobRows rows_of_failed(failed, JobValue::allocated, JobOrder::rank, false);
    QCOMPARE(rows_of_failed.severities(2), (std::vector{Severity::failure, Severity::leak}));
}

void JobTest::rows_are_sorted() {
    const JobRows by_peak(job_of(4), JobValue::allocated, JobOrder::peak, false);
    QCOMPARE(by_peak.position(0), size_t{3});
    QCOMPARE(by_peak.row_of(0), 3);
    const JobRows by_end(job_of(4), JobValue::allocated, JobOrder::end, false);
    QCOMPARE(by_end.position(0), size_t{0});
}

void JobTest::the_busy_part_begins_with_the_first_memory() {
    const JobRows rows(job_of(4), JobValue::allocated, JobOrder::rank, true);
    QCOMPARE(rows.span().first, 1005 * second);
}

void JobTest::the_finding_is_selected_with_a_rank_to_compare() {
    QCOMPARE(view_->map().selected(), (std::vector<size_t>{2, 0}));
    view_->show_job(job_of(4));  // as while it is recorded
    QCOMPARE(view_->map().selected(), (std::vector<size_t>{2, 0}));
}

void JobTest::without_a_finding_four_ranks_are_shown() {
    const auto calm = std::make_shared<ExplainedJob>(*job_of(8));
    calm->explanation.findings.clear();
    JobView view;
    view.show_job(calm);
    QCOMPARE(view.map().selected(), (std::vector<size_t>{0, 1, 2, 3}));
    QCOMPARE(view.curves().graphCount(), 4);
    QVERIFY(!view.story().toPlainText().isEmpty());
}

void JobTest::curves_stand_apart_on_one_time_axis() {
    view_->map().select({3, 1, 0});
    QCOMPARE(view_->curves().axisRectCount(), 1);
    box_named(*view_, "apart").setChecked(true);
    QCOMPARE(view_->curves().axisRectCount(), 3);
    QCOMPARE(view_->curves().graphCount(), 3);
    const QStringList names = {QStringLiteral("rank 3"), QStringLiteral("rank 1"), QStringLiteral("rank 0")};
    for (int i = 0; i < 3; ++i) {
        const QCPGraph* curve = view_->curves().graph(i);
        QCOMPARE(curve->name(), names[i]);
        QCOMPARE(curve->keyAxis()->range(), view_->curves().graph(0)->keyAxis()->range());
        QCOMPARE(curve->valueAxis()->range(), view_->curves().graph(0)->valueAxis()->range());
        QCOMPARE(curve->keyAxis()->tickLabels(), i == 2);
        QVERIFY(curve->valueAxis()->range().upper > 400.0 * MiB);
    }
    view_->map().select({2});
    QCOMPARE(view_->curves().axisRectCount(), 1);
}

void JobTest::a_late_start_is_left_out() {
    QVERIFY(!box_named(*view_, "Busy").isChecked());  // more than half of the job
    const auto late = std::make_shared<ExplainedJob>(*job_of(4));
    for (JobMember& each : late->job.members) {
        each.summary->duration = 100 * second;
        auto& curve = each.summary->devices[0].allocated;
        std::fill(curve.begin(), curve.begin() + DeviceSummary::columns * 9 / 10, 0);
    }
    JobView view;
    view.show_job(late);
    QVERIFY(box_named(view, "Busy").isChecked());
    QVERIFY(view.map().rows().span().first > 1089 * second);
}

void JobTest::a_click_selects_and_a_double_click_opens() {
    QWidget* map = view_->map().viewport();
    QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, center_of(3));
    QCOMPARE(view_->map().selected(), std::vector<size_t>{3});
    QTest::mouseClick(map, Qt::LeftButton, Qt::ControlModifier, center_of(1));
    QCOMPARE(view_->map().selected(), (std::vector<size_t>{3, 1}));
    QSignalSpy opened(view_.get(), &JobView::open_requested);
    QTest::mouseDClick(map, Qt::LeftButton, Qt::NoModifier, center_of(1));
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toString(), QStringLiteral("/job/rank1.tide"));
}

void JobTest::keys_move_and_open() {
    view_->map().select({1});
    QSignalSpy opened(view_.get(), &JobView::open_requested);
    QTest::keyClick(&view_->map(), Qt::Key_Down);
    QCOMPARE(view_->map().selected(), std::vector<size_t>{2});
    QTest::keyClick(&view_->map(), Qt::Key_Return);
    QCOMPARE(opened[0][0].toString(), QStringLiteral("/job/rank2.tide"));
}

void JobTest::the_story_links_to_ranks() {
    QVERIFY(view_->story().toPlainText().contains(QStringLiteral("<train>.py:3 main")));  // no markup from a trace
    view_->map().select({0});
    emit view_->story().anchorClicked(QUrl(QStringLiteral("select:0")));
    QCOMPARE(view_->map().selected(), std::vector<size_t>{2});
    QSignalSpy opened(view_.get(), &JobView::open_requested);
    emit view_->story().anchorClicked(QUrl(QStringLiteral("open:2")));
    QCOMPARE(opened[0][0].toString(), QStringLiteral("/job/rank2.tide"));
}

QTEST_MAIN(JobTest)
#include "test_job.moc"
