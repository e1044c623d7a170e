// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/whatif/whatif_pane.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/text.h"
#include "gui/whatif/reserved_plot.h"
#include "gui/whatif/settings_bar.h"
#include "gui/widgets/table_style.h"
#include "storage/whatif/replay_sentences.h"

namespace tidemark::gui {

namespace {

constexpr int typing_pause = 60;  // milliseconds
constexpr int live_delay = 1000;  // a growing run is replayed as a whole each time
constexpr int64_t most_columns = 65536;

using Recorded = std::shared_ptr<const RecordedRun>;

/// Replays with the asked settings, and first with the recorded ones unless that is known. Null if canceled.
std::shared_ptr<const ShownReplay> replay(const std::shared_ptr<const Analysis>& analysis, Recorded recorded,
                                          const AskedSettings& asked, Progress& progress) {
    ShownReplay shown{analysis, std::move(recorded), std::nullopt, std::nullopt};
    if (!shown.recorded) {
        auto run = replay_as_recorded(*analysis, most_columns, progress);
        if (run) {
            shown.recorded = std::make_shared<const RecordedRun>(std::move(*run));
        } else {
            shown.error = run.error();
        }
    }
    if (shown.recorded) {
        auto run = replay_with(*analysis, *shown.recorded, asked, most_columns, progress);
        if (run) {
            shown.asked = std::move(*run);
        } else {
            shown.error = run.error();
        }
    }
    const bool is_canceled = shown.error && shown.error->kind == ErrorKind::canceled;
    return is_canceled ? nullptr : std::make_shared<const ShownReplay>(std::move(shown));
}

QString sentence_text(const Sentence& sentence) { return to_qstring(reader_words().translate(sentence)); }

QString count_difference(int64_t difference) {
    return difference == 0  ? QStringLiteral("0")
           : difference > 0 ? QStringLiteral("+%1").arg(count_text(difference))
                            : QStringLiteral("−%1").arg(count_text(-difference));
}

QString failure_text(const RunFigures& figures) {
    return figures.failed ? WhatIfPane::tr("at event %1").arg(count_text(figures.failed->event)) : WhatIfPane::tr("no");
}

void add_row(QStandardItemModel& model, const QStringList& cells) {
    QList<QStandardItem*> items;
    for (const QString& cell : cells) {
        items << new QStandardItem(cell);
        items.back()->setToolTip(cell);
        if (items.size() > 1) {
            items.back()->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        }
    }
    model.appendRow(items);
}

/// In a low pane the rows come closer, down to the height of the text, before one of them is cut.
class FiguresTable : public QTableView {
public:
    /// Gives each column of numbers room for the longest of them.
    void fit_figures() {
        horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
        for (int column = 1; column < model()->columnCount(); ++column) {
            const int heading = horizontalHeader()->sectionSizeHint(column);
            setColumnWidth(column, std::max(heading, sizeHintForColumn(column)));
        }
        fit_rows();
    }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QTableView::resizeEvent(event);
        fit_rows();
    }

private:
    void fit_rows() {
        const int text = fontMetrics().height(), rows = model() != nullptr ? model()->rowCount() : 0;
        const int room = viewport()->height() / std::max(rows, 1);
        verticalHeader()->setMinimumSectionSize(text);
        verticalHeader()->setDefaultSectionSize(std::clamp(room, text, row_height(*this)));
    }
};

QWidget* column_of(QWidget* top, QWidget* rest) {
    auto* column = new QWidget;
    auto* layout = new QVBoxLayout(column);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(top);
    layout->addWidget(rest, 1);
    return column;
}

}  // namespace

WhatIfPane::WhatIfPane(QWidget* parent)
    : QWidget(parent), task_(this, OnNewerRequest::cancel_running, [this](std::shared_ptr<const ShownReplay> shown) {
          take(std::move(shown));
      }) {
    setAccessibleName(tr("What if: other settings of the allocator"));
    settings_ = new SettingsBar;
    result_ = new QLabel;
    result_->setObjectName(QStringLiteral("result"));
    result_->setAccessibleName(tr("Result of the replay"));
    result_->setTextFormat(Qt::RichText);
    result_->setWordWrap(true);
    result_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    result_->setContentsMargins(8, 0, 8, 0);
    plot_ = new ReservedPlot;
    auto* split = new QSplitter(Qt::Horizontal);
    // The table is beside the sentence, too: in a low pane it needs the height of that line for its last row.
    split->addWidget(column_of(result_, plot_));
    split->addWidget(make_table());
    split->setChildrenCollapsible(false);
    split->setHandleWidth(5);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 0);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(settings_);
    layout->addWidget(split, 1);
    layout->addWidget(make_foot());
    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &WhatIfPane::request);
    connect(settings_, &SettingsBar::changed, this, &WhatIfPane::schedule);
    connect(result_, &QLabel::linkActivated, this, &WhatIfPane::follow_link);
    set_session(nullptr);
}

QWidget* WhatIfPane::make_table() {
    figures_ = new QStandardItemModel(this);
    table_ = new FiguresTable;
    table_->setModel(figures_);
    table_->setAccessibleName(tr("Figures of the recorded run and of the replay"));
    set_table_style(table_);
    table_->setMinimumWidth(fontMetrics().horizontalAdvance(u'0') * 64);
    add_copy_actions(table_);
    return table_;
}

QWidget* WhatIfPane::make_foot() {
    variable_ = new QLabel;
    variable_->setAccessibleName(tr("Environment variable to set"));
    variable_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    variable_->setTextFormat(Qt::PlainText);
    variable_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    variable_->setToolTip(
        tr("Set this before the program starts. PyTorch 2.9 and later also read PYTORCH_ALLOC_CONF."));
    copy_ = tool_button(tr("Copy"), tr("Copy the line that sets the variable"),
                        [this] { QGuiApplication::clipboard()->setText(variable()); });
    trust_ = new QLabel;
    trust_->setAccessibleName(tr("How far to trust the model"));
    trust_->setTextFormat(Qt::PlainText);
    trust_->setWordWrap(true);
    trust_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* foot = new QWidget;
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(8, 0, 8, 4);
    row->addWidget(variable_);
    row->addWidget(copy_);
    row->addSpacing(12);
    row->addWidget(trust_, 1);
    return foot;
}

void WhatIfPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    task_.abandon();
    delay_.stop();
    session_ = session != nullptr && session->has_device() ? session : nullptr;
    plot_->set_session(session_);
    take(nullptr);
    settings_->set_recorded(session_ ? AllocatorSettings::from_text(session_->trace().settings) : AllocatorSettings());
    if (session_) {
        connect(session_, &Session::grown, this, &WhatIfPane::schedule);
        connect(&session_->selection(), &Selection::device_changed, this, [this] {
            task_.abandon();
            take(nullptr);
            schedule();
        });
    }
    schedule();
}

void WhatIfPane::schedule() {
    if (session_ && !delay_.isActive()) {
        delay_.start(session_->is_live() ? live_delay : typing_pause);
    }
}

void WhatIfPane::request() {
    stale_ = !isVisible();
    if (!session_ || stale_) {
        return;
    }
    const auto analysis = session_->shared_analysis();
    const Recorded recorded = shown_ && shown_->analysis == analysis ? shown_->recorded : nullptr;
    task_.start([analysis, recorded, asked = settings_->asked()](Progress& progress) {
        return replay(analysis, recorded, asked, progress);
    });
}

void WhatIfPane::take(std::shared_ptr<const ShownReplay> shown) {
    shown_ = std::move(shown);
    plot_->show_replay(shown_);
    // Without a replay with the recorded settings, no other settings can be replayed.
    settings_->setEnabled(session_ && (!shown_ || shown_->recorded));
    show_result();
    show_figures();
}

QString WhatIfPane::result() const {
    if (!shown_) {
        return session_ ? tr("Replaying the run…") : tr("No trace is open.");
    }
    if (shown_->error) {
        return error_text(*shown_->error);
    }
    if (settings_->asked_for_nothing() && !shown_->asked->figures.failed) {
        return tr("Peak reserved %1 with the recorded settings. Change one to replay the run with it.")
            .arg(bytes_text(shown_->asked->figures.peak_reserved));
    }
    const QString peak = sentence_text(peak_sentence(*shown_->recorded, *shown_->asked));
    const auto failure = failure_sentence(*shown_->recorded, *shown_->asked);
    // The peak of a run that stops early says nothing.
    return !failure                        ? peak
           : shown_->asked->figures.failed ? sentence_text(*failure)
                                           : sentence_text(*failure) + u' ' + peak;
}

QString WhatIfPane::variable() const {
    const AskedSettings asked = settings_->asked();
    const auto& recorded = session_ ? session_->trace().settings : std::map<std::string, std::string>();
    return QStringLiteral("export PYTORCH_CUDA_ALLOC_CONF=") + to_qstring(configuration_text(recorded, asked.change));
}

void WhatIfPane::show_result() {
    const bool has_run = shown_ && shown_->asked;
    QString html = QStringLiteral("<b>%1</b>").arg(result().toHtmlEscaped());
    if (has_run && shown_->asked->figures.failed) {
        html += QStringLiteral(" <a href=\"event\">%1</a>").arg(tr("Show this event"));
    }
    result_->setText(with_whole_units(html));
    const bool has_variable = has_run && !variable().endsWith(u'=');
    variable_->setText(has_variable ? variable() : has_run ? tr("PyTorch's defaults: no variable to set") : QString());
    copy_->setEnabled(has_variable);
    QStringList trust;
    if (has_run) {
        trust << sentence_text(trust_sentence(*shown_->recorded));
        for (const Sentence& limit : replay_limits(*shown_->recorded)) {
            trust << sentence_text(limit);
        }
        const RunFigures &before = shown_->recorded->recorded.figures, &after = shown_->asked->figures;
        if (settings_->asked().change.expandable_segments.value_or(false) && !after.failed &&
            after.gaps_at_end.bytes > before.gaps_at_end.bytes) {
            trust << tr("The free memory of an expandable segment counts as free gaps.");
        }
    }
    trust_->setText(with_whole_units(trust.join(u' ')));
    trust_->setToolTip(tip_text(trust_->text()));
}

void WhatIfPane::show_figures() {
    figures_->clear();
    figures_->setHorizontalHeaderLabels({tr("Figure"), tr("Recorded"), tr("Model"), tr("Difference")});
    for (int column = 0; column < figures_->columnCount(); ++column) {
        figures_->horizontalHeaderItem(column)->setTextAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) |
                                                                 Qt::AlignVCenter);
    }
    if (shown_ && shown_->asked) {
        const RunFigures &before = shown_->recorded->recorded.figures, &after = shown_->asked->figures;
        // Differences to a run that stops early say nothing.
        const auto shown = [&](const QString& difference) { return after.failed ? QString() : difference; };
        const auto bytes = [&](const QString& name, int64_t a, int64_t b) {
            add_row(*figures_, {name, bytes_text(a), bytes_text(b), shown(change_text(b - a))});
        };
        const auto count = [&](const QString& name, int64_t a, int64_t b) {
            add_row(*figures_, {name, count_text(a), count_text(b), shown(count_difference(b - a))});
        };
        if (before.failed || after.failed) {
            add_row(*figures_, {tr("Out of memory"), failure_text(before), failure_text(after), QString()});
        }
        bytes(tr("Peak reserved"), before.peak_reserved, after.peak_reserved);
        bytes(tr("Peak allocated"), before.peak_allocated, after.peak_allocated);
        bytes(tr("Reserved at the end"), before.end_reserved, after.end_reserved);
        bytes(tr("Free gaps at peak reserved"), before.gaps_at_peak.bytes, after.gaps_at_peak.bytes);
        bytes(tr("Free gaps at the end"), before.gaps_at_end.bytes, after.gaps_at_end.bytes);
        count(tr("Memory from the driver, calls"), before.driver_allocations, after.driver_allocations);
        count(tr("Memory to the driver, calls"), before.driver_frees, after.driver_frees);
    }
    static_cast<FiguresTable*>(table_)->fit_figures();
}

void WhatIfPane::follow_link() {
    if (session_ && shown_ && shown_->asked && shown_->asked->figures.failed) {
        session_->selection().set_time_point(shown_->asked->figures.failed->event);
    }
}

void WhatIfPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void WhatIfPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        show_result();
    }
}

}  // namespace tidemark::gui
