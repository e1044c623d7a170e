// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/job/job_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/widgets/code_table.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"
#include "storage/report/job_report.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {

constexpr auto select_link = "select:";  ///< the number of a finding
constexpr auto open_link = "open:";      ///< the position of a process

QString paragraph(const QString& html) { return QStringLiteral("<p>%1</p>").arg(html); }

QString code_of_fix(const FixTexts& fix) {
    if (!fix.diff.empty()) {
        return diff_table(fix.diff);
    }
    return fix.code.empty() ? QString()
                            : QStringLiteral("<pre style='white-space:pre-wrap'>%1</pre>")
                                  .arg(lines_to_qstring(fix.code).toHtmlEscaped());
}

QString finding_html(const ExplainedJob& explained, size_t number, const Theme& theme) {
    const JobFinding& finding = explained.explanation.findings[number];
    const Words words = reader_words();
    // A line below the title would hide underscores.
    QString html = QStringLiteral(
                       "<p><b><span style='color:%1'>%2</span> "
                       "<a href='%3%4' style='color:%5;text-decoration:none'>%6</a></b></p>")
                       .arg(severity_color(theme, finding.severity).name(),
                            to_qstring(severity_title(words, finding.severity)), QLatin1String(select_link),
                            QString::number(number), theme.text.name(), rich_text(to_qstring(finding.title)));
    if (!finding.line.empty()) {
        html += paragraph(QStringLiteral("<code>%1</code>").arg(to_qstring(finding.line).toHtmlEscaped()));
    }
    for (const std::string& sentences : finding.text) {
        html += paragraph(rich_text(to_qstring(sentences)));
    }
    if (!finding.fix.text.empty()) {
        html += paragraph(JobView::tr("<b>Fix:</b> %1").arg(rich_text(to_qstring(finding.fix.text))));
        html += code_of_fix(finding.fix);
    }
    const size_t member = finding.members.front();
    return html +
           paragraph(QStringLiteral("<a href='%1%2'>%3</a>")
                         .arg(QLatin1String(open_link), QString::number(member),
                              JobView::tr("Open %1").arg(
                                  to_qstring(member_name(explained.job.members[member], words)).toHtmlEscaped())));
}

QString gpu_html(const ExplainedJob& explained, const GpuTotal& gpu) {
    const Words words = reader_words();
    QStringList parts;
    for (const GpuTotal::Part& part : gpu.parts) {
        parts << QStringLiteral("%1 %2").arg(to_qstring(member_name(explained.job.members[part.member], words)),
                                             bytes_text(part.bytes));
    }
    if (gpu.rest > 0) {
        parts << JobView::tr("others or unknown %1").arg(bytes_text(gpu.rest));
    }
    const QString total = gpu.used ? bytes_text(*gpu.used) : JobView::tr("not recorded");
    return paragraph(JobView::tr("%1: <b>%2</b><br>%3")
                         .arg(to_qstring(gpu_phrase(gpu, words)).toHtmlEscaped(), total,
                              parts.join(QStringLiteral(" · ")).toHtmlEscaped()));
}

}  // namespace

JobView::JobView(QWidget* parent)
    : QWidget(parent),
      summary_(new QLabel),
      story_(new QTextBrowser),
      value_(new QComboBox),
      order_(new QComboBox),
      busy_(new QCheckBox(tr("&Busy part"))),
      apart_(new QCheckBox(tr("C&urves apart"))),
      plots_(new QSplitter(Qt::Vertical)),
      map_(new HeatMap),
      curves_(new RankCurves) {
    summary_->setWordWrap(true);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    story_->setOpenLinks(false);
    story_->setAccessibleName(tr("Findings of the job"));
    story_->setMinimumWidth(280);
    plots_->addWidget(map_);
    plots_->addWidget(curves_);
    auto* stage = new QWidget;
    auto* column = new QVBoxLayout(stage);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(make_controls());
    column->addWidget(plots_, 1);
    auto* both = new QSplitter(Qt::Horizontal);
    both->addWidget(story_);
    both->addWidget(stage);
    both->setStretchFactor(0, 1);
    both->setStretchFactor(1, 3);
    both->setSizes({400, 1200});
    auto* page = new QVBoxLayout(this);
    page->addWidget(summary_);
    page->addWidget(both, 1);
    connect(map_, &HeatMap::selection_changed, this,
            [this](const std::vector<size_t>& positions) { curves_->show_curves(map_->rows(), positions); });
    connect(map_, &HeatMap::open_requested, this, &JobView::open);
    connect(map_, &HeatMap::arranged, this, [this] {
        const int frame = map_->frameWidth(), right = map_->width() - frame - map_->plot().right();
        curves_->align(frame + map_->plot().left(), right);
    });
    connect(story_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) { follow(link.toString()); });
}

QWidget* JobView::make_controls() {
    auto* controls = new QWidget;
    auto* row = new QHBoxLayout(controls);
    row->setContentsMargins(0, 0, 0, 0);
    value_->addItem(tr("Allocated"), static_cast<int>(JobValue::allocated));
    value_->addItem(tr("Reserved"), static_cast<int>(JobValue::reserved));
    value_->addItem(tr("Used of the GPU"), static_cast<int>(JobValue::used));
    order_->addItem(tr("Rank"), static_cast<int>(JobOrder::rank));
    order_->addItem(tr("Peak"), static_cast<int>(JobOrder::peak));
    order_->addItem(tr("Growth"), static_cast<int>(JobOrder::growth));
    order_->addItem(tr("Memory at the end"), static_cast<int>(JobOrder::end));
    const auto add = [row](const QString& text, QComboBox* box) {
        auto* label = new QLabel(text);
        label->setBuddy(box);
        row->addWidget(label);
        row->addWidget(box);
    };
    add(tr("&Show"), value_);
    add(tr("S&ort by"), order_);
    row->addWidget(busy_);
    busy_->setToolTip(tr("Leaves out the start, until a process has a twentieth of its peak"));
    connect(busy_, &QCheckBox::toggled, this, &JobView::update_rows);
    row->addWidget(apart_);
    apart_->setToolTip(tr("A strip for each selected process, all with the same scale"));
    connect(apart_, &QCheckBox::toggled, curves_, &RankCurves::set_apart);
    row->addStretch(1);
    auto* open = new QPushButton(tr("Open selected"));
    open->setToolTip(
        tr("Opens the traces of the selected processes. A double click on a row opens its trace; Ctrl "
           "selects up to four rows."));
    row->addWidget(open);
    connect(open, &QPushButton::clicked, this, &JobView::open_selected);
    connect(value_, &QComboBox::currentIndexChanged, this, &JobView::update_rows);
    connect(order_, &QComboBox::currentIndexChanged, this, &JobView::update_rows);
    return controls;
}

void JobView::show_job(std::shared_ptr<const ExplainedJob> explained) {
    explained_ = std::move(explained);
    const Words words = reader_words();
    summary_->setText(
        QStringLiteral("<b>%1</b>")
            .arg(rich_text(with_whole_units(to_qstring(words.sentences(explained_->explanation.summary))))));
    write_story();
    if (map_->selected().empty()) {
        show_first();
    } else {
        update_rows();
    }
}

void JobView::show_first() {
    const JobRows all(explained_, JobValue::allocated, JobOrder::rank, false);
    const JobRows busy(explained_, JobValue::allocated, JobOrder::rank, true);
    const auto length = [](std::pair<int64_t, int64_t> span) { return span.second - span.first; };
    {
        const QSignalBlocker blocker(busy_);
        busy_->setChecked(length(busy.span()) < length(all.span()) / 2);  // else little of the picture is of interest
    }
    update_rows();
    QMetaObject::invokeMethod(this, &JobView::share_height, Qt::QueuedConnection);  // when the page has its size
    select_first_finding();
}

/// Few rows need little height; the curves get the rest, at least a third.
void JobView::share_height() {
    const int all = plots_->height(), least = all / 3;
    const int map = std::min(map_->height_for_rows(), all - least);
    plots_->setSizes({map, all - map});
}

void JobView::update_rows() {
    if (explained_) {
        map_->show_rows(JobRows(explained_, static_cast<JobValue>(value_->currentData().toInt()),
                                static_cast<JobOrder>(order_->currentData().toInt()), busy_->isChecked()));
        curves_->show_curves(map_->rows(), map_->selected());
        curves_->setVisible(!map_->rows().empty());
    }
}

void JobView::write_story() {
    const Theme theme = Theme::current();
    QString html;
    for (size_t i = 0; i < explained_->explanation.findings.size(); ++i) {
        html += finding_html(*explained_, i, theme) + QStringLiteral("<hr>");
    }
    if (!explained_->explanation.gpus.empty()) {
        html += QStringLiteral("<h4>%1</h4>").arg(tr("Memory of the GPUs at the end, as nvidia-smi shows it"));
        constexpr size_t most = 16;
        const auto& gpus = explained_->explanation.gpus;
        for (size_t i = 0; i < std::min(most, gpus.size()); ++i) {
            html += gpu_html(*explained_, gpus[i]);
        }
        html += gpus.size() > most
                    ? paragraph(tr("… and %n more GPU(s)", nullptr, static_cast<int>(gpus.size() - most)))
                    : QString();
    }
    if (!explained_->explanation.unknowns.empty()) {
        html += QStringLiteral("<h4>%1</h4>").arg(tr("Not recorded"));
        for (const std::string& unknown : explained_->explanation.unknowns) {
            html += paragraph(to_qstring(unknown).toHtmlEscaped());
        }
    }
    if (html.isEmpty()) {
        html = paragraph(tr("No finding compares these processes."));
    }
    story_->setHtml(with_whole_units(html));
}

void JobView::select_first_finding() {
    std::vector<size_t> positions;
    for (const JobFinding& finding : explained_->explanation.findings) {
        if (finding.kind != JobFindingKind::shared) {
            positions.assign(
                finding.members.begin(),
                finding.members.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(finding.members.size(), 3)));
            break;
        }
    }
    const size_t wanted = positions.empty() ? HeatMap::most_selected : positions.size() + 1;  // one to compare with
    for (int row = 0; row < map_->rows().size() && positions.size() < wanted; ++row) {
        const size_t position = map_->rows().position(row);
        if (std::find(positions.begin(), positions.end(), position) == positions.end()) {
            positions.push_back(position);
        }
    }
    map_->select(positions);
}

void JobView::follow(const QString& link) {
    if (link.startsWith(QLatin1String(select_link))) {
        const auto number = static_cast<size_t>(link.mid(static_cast<qsizetype>(strlen(select_link))).toULongLong());
        map_->select(explained_->explanation.findings.at(number).members);
    } else if (link.startsWith(QLatin1String(open_link))) {
        open(static_cast<size_t>(link.mid(static_cast<qsizetype>(strlen(open_link))).toULongLong()));
    }
}

void JobView::open_selected() {
    for (const size_t position : map_->selected()) {
        open(position);
    }
}

void JobView::open(size_t position) {
    emit open_requested(file_name_from_bytes(explained_->job.members.at(position).path));
}

}  // namespace tidemark::gui
