// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/trace_page.h"

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "gui/inspector/describe_trace.h"
#include "gui/model/grouping.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"
#include "storage/base/units.h"
#include "storage/explain/finding.h"
#include "storage/text/fact_words.h"

namespace tidemark::gui {

namespace {

constexpr int rereading_pause = 2000;  // milliseconds

void add_to(QHBoxLayout* row, const QString& label, QComboBox* box) {
    auto* text = new QLabel(label);
    text->setBuddy(box);
    box->setAccessibleName(label);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    row->addWidget(text);
    row->addWidget(box);
    row->addSpacing(10);
}

QString device_text(const DeviceHistory& device) {
    return device.name.empty()
               ? TracePage::tr("device %1").arg(device.device)
               : TracePage::tr("device %1: %2").arg(QString::number(device.device), name_text(device.name));
}

}  // namespace

TracePage::TracePage(QWidget* parent) : QWidget(parent), strip_(new LiveStrip), data_gaps_(new QLabel) {
    details_ = new InspectorPane;
    why_ = new StoryPane;
    summary_bar_ = new SummaryBar;
    overview_ = new OverviewPlot;
    make_tabs();
    auto* header = make_header();
    arrange(make_plots());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 4, 6, 2);
    column->setSpacing(3);
    column->addWidget(header);
    column->addWidget(summary_bar_);
    column->addWidget(arrangement_, 1);
}

void TracePage::arrange(QWidget* plots) {
    arrangement_ = new PageLayout({why_, plots, tabs_, details_, {graph_, what_if_}});
    connect(why_, &StoryPane::close_requested, this, [this] { arrangement_->set_story(false); });
    connect(details_, &InspectorPane::close_requested, this, [this] { arrangement_->set_inspector(false); });
    connect(why_, &StoryPane::evidence_shown, this, &TracePage::show_evidence);
    connect_comparison();
    connect(why_, &StoryPane::memory_list_requested, this, [this] {
        tabs_->setCurrentWidget(table_);
        table_->show_selection_only();
    });
    connect(histograms_, &HistogramsPane::memory_selected, table_, &AllocationTable::show_selection_only);
    connect_notes();
    connect(overview_, &OverviewPlot::finding_selected, why_, &StoryPane::select_finding);
    connect(summary_bar_, &SummaryBar::finding_requested, this, [this](int finding) {
        arrangement_->set_story(true);
        why_->select_finding(finding);
    });
}

void TracePage::connect_notes() {
    overview_->set_notes(&notes_);
    why_->set_notes(&notes_);
    connect(&notes_, &NotesSource::failed, this, &TracePage::notes_failed);
    connect(why_, &StoryPane::note_requested, notes_pane_, &NotesPane::edit_note_on);
    connect(notes_pane_, &NotesPane::finding_requested, this, [this](int finding) {
        arrangement_->set_story(true);
        why_->select_finding(finding);
    });
}

/// Opens the pane that shows the evidence best and makes the time span contain it.
void TracePage::show_evidence(ShownBy by, const Evidence& evidence) {
    switch (by) {
        case ShownBy::any: break;
        case ShownBy::segments: tabs_->setCurrentWidget(segments_); break;
        case ShownBy::graph:
            tabs_->setCurrentWidget(graph_);
            graph_->reveal_selection();
            break;
        case ShownBy::breakdown:
            tabs_->setCurrentWidget(breakdown_);
            breakdown_->select_component(*evidence.component);
            break;
    }
    TimeView& view = session_->time_view();
    const auto& range = session_->selection().state().range;
    if (!range) {
        reveal_time_point();  // the cursor may have been there before
    } else if (range->first < view.from() || range->second > view.to()) {
        // The old span stays visible where there is room, to compare growth with what came after.
        const double margin = (range->second - range->first) * 0.15;
        const double from = std::min(range->first - margin, view.from());
        const double to = std::max(range->second + margin, view.to());
        const double wide = std::max(view.span(), range->second - range->first + 2 * margin);
        const double middle = (range->first + range->second) / 2;
        to - from <= 3 * wide ? view.show(from, to) : view.show(middle - wide / 2, middle + wide / 2);
    }
}

TracePage::~TracePage() {
    live_.reset();
    set_session(nullptr);
}

QWidget* TracePage::make_header() {
    auto* header = new QWidget;
    auto* column = new QVBoxLayout(header);
    column->setContentsMargins(2, 0, 2, 0);
    column->setSpacing(3);
    auto* row = new QHBoxLayout;
    about_ = new QLabel;
    about_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    about_->setAccessibleName(tr("Summary of the trace"));
    about_->setMinimumWidth(120);
    about_->setWordWrap(true);
    row->addWidget(about_, 1);
    device_ = new QComboBox;
    group_by_ = new QComboBox;
    for (const GroupOption& choice : group_options()) {
        group_by_->addItem(group_option_name(choice));
    }
    color_by_ = new QComboBox;
    for (const QString& name : {tr("group"), tr("stack"), tr("size"), tr("age"), tr("stream")}) {
        color_by_->addItem(name);
    }
    axis_ = new QComboBox;
    axis_->addItems({tr("wall clock"), tr("event number")});
    add_to(row, tr("Device"), device_);
    add_to(row, tr("Stack by"), group_by_);
    add_to(row, tr("Color allocations by"), color_by_);
    add_to(row, tr("Time axis"), axis_);
    column->addLayout(row);
    data_gaps_->setAccessibleName(tr("Data gaps of this trace"));
    data_gaps_->setTextFormat(Qt::RichText);
    data_gaps_->setWordWrap(true);
    connect(data_gaps_, &QLabel::linkActivated, this, &TracePage::show_data_gaps);
    column->addWidget(data_gaps_);
    column->addWidget(strip_);
    strip_->hide();
    connect(device_, &QComboBox::activated, this,
            [this](int position) { session_->selection().select_device(position); });
    connect(group_by_, &QComboBox::activated, this,
            [this](int choice) { set_group_by(group_options()[static_cast<size_t>(choice)]); });
    connect(color_by_, &QComboBox::activated, this, [this](int by) { set_color_by(static_cast<ColorBy>(by)); });
    connect(axis_, &QComboBox::activated, this, [this](int axis) { set_axis(static_cast<TimeAxis>(axis)); });
    return header;
}

QWidget* TracePage::make_plots() {
    timeline_ = new TimelinePlot;
    finding_plot_ = new FindingPlot;
    allocations_ = new AllocationsPlot;
    legend_ = new Legend;
    plot_column_ = new PlotColumn({timeline_, finding_plot_, allocations_});
    plots_ = new QWidget;
    auto* column = new QVBoxLayout(plots_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(overview_);
    column->addWidget(plot_column_, 1);
    auto* all = new QWidget;
    auto* rows = new QVBoxLayout(all);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(2);
    rows->addWidget(legend_);
    rows->addWidget(plots_, 1);
    return all;
}

void TracePage::make_tabs() {
    segments_ = new SegmentMap;
    graph_ = new GraphPane;
    table_ = new AllocationTable;
    summary_ = new SummaryTable;
    changes_ = new ChangesPane;
    call_tree_ = new TreePane;
    what_if_ = new WhatIfPane;
    source_ = new SourcePane;
    histograms_ = new HistogramsPane;
    breakdown_ = new BreakdownPane;
    sql_ = new SqlPane;
    notes_pane_ = new NotesPane;
    tabs_ = new QTabWidget;
    tabs_->setObjectName(QStringLiteral("drawer"));
    tabs_->setDocumentMode(true);
    tabs_->setAccessibleName(tr("State at the cursor"));
    for (const auto& [pane, name] : panes()) {
        tabs_->addTab(pane, name);
    }
    connect(graph_, &GraphPane::link_activated, details_, &InspectorPane::follow);
    reread_.setSingleShot(true);
    reread_.setInterval(rereading_pause);
    connect(&reread_, &QTimer::timeout, this, &TracePage::reread_graph);
}

std::vector<std::pair<QWidget*, QString>> TracePage::panes() const {
    return {{segments_, tr("Segments")},          {graph_, tr("Graph")},     {table_, tr("Table")},
            {histograms_, tr("Histograms")},      {summary_, tr("Summary")}, {changes_, tr("Changes")},
            {call_tree_, tr("Call tree")},        {source_, tr("Source")},   {what_if_, tr("What if")},
            {breakdown_, tr("Memory breakdown")}, {sql_, tr("SQL")},         {notes_pane_, tr("Notes")}};
}

/// Reads the graph of a growing run again while a pane that needs it is visible.
void TracePage::reread_graph() {
    if (!session_ || !session_->has_device() || session_->graph_source().is_of(session_->trace())) {
        return;
    }
    if (session_->graph_source().state() == GraphSource::State::reading) {
        reread_.start();
    } else if (graph_->isVisible() || needs_graph(session_->group_by()) || !session_->is_live()) {
        session_->load_graph();
    }
}

void TracePage::set_session(std::shared_ptr<Session> session) {
    Session* raw = session.get();
    if (session_) {
        session_->disconnect(this);
    }
    overview_->set_session(raw);
    timeline_->set_session(raw);
    finding_plot_->set_session(raw);
    allocations_->set_session(raw);
    legend_->set_session(raw);
    segments_->set_session(raw);
    graph_->set_session(raw);
    table_->set_session(raw);
    summary_->set_session(raw);
    other_trace_.cancel();
    changes_->stop_comparing();
    changes_->set_session(raw);
    call_tree_->set_session(raw);
    what_if_->set_session(raw);
    source_->set_session(raw);
    histograms_->set_session(raw);
    breakdown_->set_session(raw);
    sql_->set_session(raw);
    details_->set_session(raw);
    why_->set_session(raw);
    summary_bar_->set_session(raw);
    notes_.set_session(raw);
    notes_pane_->set_notes(&notes_, raw);
    if (session_) {
        session_->selection().disconnect(this);
    }
    session_ = std::move(session);
    if (raw != nullptr) {
        fill_header();
        if (raw->has_device()) {
            raw->load_graph();
        }
        connect(raw, &Session::grown, this, [this] {
            if (!reread_.isActive()) {
                reread_.start();
            }
        });
        connect(raw, &Session::live_changed, this, &TracePage::reread_graph);
        connect(tabs_, &QTabWidget::currentChanged, raw, [this] { reread_graph(); });
        connect(&raw->selection(), &Selection::selected_changed, this, &TracePage::follow_selection);
        connect(&raw->selection(), &Selection::time_point_changed, this, &TracePage::reveal_time_point);
        connect(&raw->selection(), &Selection::device_changed, this, &TracePage::fill_header);
        connect(raw, &Session::grown, this, &TracePage::fill_facts);
        connect(raw, &Session::grouping_changed, this, &TracePage::show_group_option);
    }
}

void TracePage::fill_header() {
    fill_devices();
    fill_facts();
    show_group_option();
    color_by_->setCurrentIndex(static_cast<int>(allocations_->color_by()));
    axis_->setCurrentIndex(static_cast<int>(session_->time_view().axis()));
}

void TracePage::fill_devices() {
    const auto& devices = session_->trace().devices;
    device_->clear();
    for (const DeviceHistory& device : devices) {
        device_->addItem(device_text(device));
    }
    device_->setCurrentIndex(session_->selection().state().device);
    const bool choice = devices.size() > 1;
    device_->setVisible(choice);
    for (QLabel* label : findChildren<QLabel*>()) {
        if (label->buddy() == device_) {
            label->setVisible(choice);
        }
    }
}

void TracePage::fill_facts() {
    const Trace& trace = session_->trace();
    if (device_->count() != static_cast<int>(trace.devices.size())) {
        fill_devices();
    }
    QStringList facts{QStringLiteral("<b>%1</b>").arg(QFileInfo(to_qstring(trace.path)).fileName().toHtmlEscaped())};
    if (session_->has_device()) {
        const DeviceHistory& device = session_->device();
        if (trace.devices.size() == 1) {
            facts << device_text(device).toHtmlEscaped();
        }
        const int64_t peak = session_->analysis().curves().peak(Series::allocated).max;
        facts << tr("%1 event(s)", nullptr, plural(device.event_count()))
                     .arg(QString::fromStdString(format_count(device.event_count())))
              << QString::fromStdString(format_duration(trace.duration))
              << tr("peak %1 allocated").arg(bytes_text(static_cast<uint64_t>(peak)));
    }
    if (const auto other = changes_->compared().other) {
        facts = {compared_facts(other->trace())};
    }
    about_->setText(with_whole_units(facts.join(QStringLiteral(" · "))));
    about_->setToolTip(tip_text(to_qstring(source_words(reader_words(), trace)) + '\n' + to_qstring(trace.path)));
    const std::vector<DataGap> data_gaps = session_->data_gaps();
    data_gaps_->setVisible(!data_gaps.empty());
    if (!data_gaps.empty()) {
        const QString more = data_gaps.size() > 1 ? tr(" and %1 more").arg(data_gaps.size() - 1) : QString();
        const QString mark = is_about_sharing(data_gaps.front()) ? QString() : QStringLiteral("⚠ ");
        data_gaps_->setText(mark + QStringLiteral("%1<a href=\"#\">%2</a>")
                                       .arg(data_gap_text(data_gaps.front()).toHtmlEscaped(), more.toHtmlEscaped()));
        QStringList all;
        for (const DataGap& data_gap : data_gaps) {
            all << data_gap_text(data_gap);
        }
        data_gaps_->setToolTip(tip_text(all.join('\n')));
    }
}

// ---- following a recording ------------------------------------------------------------------------------------------

void TracePage::follow(std::unique_ptr<StreamingFeed> feed) {
    StreamingFeed* raw = feed.get();
    live_ = std::make_unique<LiveView>(*this, *strip_, std::move(feed));
    connect(live_.get(), &LiveView::session_replaced, this, &TracePage::session_replaced);
    connect(live_.get(), &LiveView::frozen_changed, this, &TracePage::live_changed);
    connect(live_.get(), &LiveView::failed, this, [this](const QString& sentence) {
        stop_following();
        emit live_failed(sentence);
    });
    connect(live_.get(), &LiveView::ended, this, [this] {
        stop_following();
        emit live_ended();
    });
    strip_->show();
    fill_facts();
    raw->start();
    emit live_changed();
}

std::unique_ptr<StreamingFeed> TracePage::release_feed() {
    auto feed = live_ ? live_->release_feed() : nullptr;
    stop_following();
    return feed;
}

/// The view's own signals call this too, so the view is deleted later.
void TracePage::stop_following() {
    if (live_) {
        live_->disconnect(this);
        live_.release()->deleteLater();
        strip_->set_session(nullptr);
        strip_->hide();
        if (session_) {
            fill_facts();
        }
        emit live_changed();
    }
}

void TracePage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        // A label does not update the color of its links.
        const QString text = data_gaps_->text();
        data_gaps_->clear();
        data_gaps_->setText(text);
    }
}

void TracePage::show_trace_information() {
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Trace information"));
    auto* text = new QTextBrowser;
    text->setAccessibleName(dialog->windowTitle());
    text->setFrameShape(QFrame::NoFrame);
    text->setOpenLinks(false);
    constexpr int widest_name = 40;  // characters: the longest settings have 30, and the dialog is wide
    text->setHtml(describe_trace(*session_).html(
        Theme::current(), text->font(), QFontDatabase::systemFont(QFontDatabase::FixedFont).family(), widest_name));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(text);
    column->addWidget(buttons);
    dialog->resize(720, 560);
    dialog->open();
}

}  // namespace tidemark::gui
