// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/breakdown/breakdown_pane.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/breakdown/breakdown_plot.h"
#include "gui/model/lazy_breakdown.h"
#include "gui/model/text.h"
#include "gui/widgets/delimited.h"
#include "gui/widgets/table_style.h"
#include "storage/text/data_gap_words.h"

namespace tidemark::gui {

namespace {

constexpr int scrubbing_pause = 40;  // milliseconds

/// Paints each bar from the end of the previous one, so that together they reach nvidia-smi's figure.
class StepDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const Theme theme = Theme::current();
        const QRectF room = QRectF(option.rect).adjusted(6, 3, -6, -3);
        const double from = index.data(BreakdownModel::from_role).toDouble(),
                     to = index.data(BreakdownModel::to_role).toDouble();
        QRectF bar(room.left() + from * room.width(), room.top(), std::max((to - from) * room.width(), 1.5),
                   room.height());
        bar.moveRight(std::min(bar.right(), room.right()));
        const QVariant brush = index.data(BreakdownModel::brush_role);
        painter->save();
        if (brush.isValid()) {
            painter->fillRect(bar, theme.plot_background);
            painter->fillRect(bar, brush.value<QBrush>());
            painter->setPen(QPen(theme.faint_text, 0.5));
            painter->drawRect(bar);
        } else {
            const double y = room.center().y();
            painter->setPen(QPen(theme.allocated_line, 2));
            painter->drawLine(QPointF(bar.left(), y), QPointF(bar.right(), y));
            painter->drawLine(QPointF(bar.right() - 1, room.top()), QPointF(bar.right() - 1, room.bottom()));
        }
        painter->restore();
    }
};

/// Paints a square with the bar's fill before the component's name.
class ComponentDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        constexpr int swatch = 11;
        QStyleOptionViewItem moved = option;
        moved.rect.adjust(swatch + 6, 0, 0, 0);
        initStyleOption(&moved, index);
        QStyleOptionViewItem background = moved;
        background.text.clear();
        background.rect = option.rect;
        moved.widget->style()->drawControl(QStyle::CE_ItemViewItem, &background, painter, moved.widget);
        QStyledItemDelegate::paint(painter, moved, index);
        const QVariant brush = index.data(BreakdownModel::brush_role);
        if (brush.isValid()) {
            const QRect box(option.rect.left() + 7, option.rect.center().y() - swatch / 2, swatch, swatch);
            painter->save();
            painter->fillRect(box, brush.value<QBrush>());
            painter->setPen(Theme::current().faint_text);
            painter->drawRect(box);
            painter->restore();
        }
    }
};

}  // namespace

BreakdownPane::BreakdownPane(QWidget* parent)
    : QWidget(parent),
      model_(new BreakdownModel(this)),
      task_(this, OnNewerRequest::cancel_running,
            [this](const std::shared_ptr<const Answer>& answer) { take(answer); }),
      plot_(new BreakdownPlot) {
    setAccessibleName(tr("Memory breakdown: from requested bytes to nvidia-smi"));
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->addWidget(plot_);
    split->addWidget(make_table());
    split->setChildrenCollapsible(false);
    split->setHandleWidth(5);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    split->setSizes({430, 570});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
    delay_.setSingleShot(true);
    delay_.setInterval(scrubbing_pause);
    connect(&delay_, &QTimer::timeout, this, &BreakdownPane::request);
    connect(plot_, &BreakdownPlot::components_changed, this, &BreakdownPane::update_colors);
    set_session(nullptr);
}

QWidget* BreakdownPane::make_table() {
    auto* side = new QWidget;
    sentence_ = new QLabel;
    sentence_->setWordWrap(true);
    sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    sentence_->setAccessibleName(tr("Memory breakdown at the cursor"));
    table_ = new QTableView;
    table_->setModel(model_);
    table_->setAccessibleName(tr("Components at the cursor"));
    set_table_style(table_);
    table_->setItemDelegateForColumn(BreakdownModel::component, new ComponentDelegate(table_));
    table_->setItemDelegateForColumn(BreakdownModel::step, new StepDelegate(table_));
    const int digit = fontMetrics().horizontalAdvance(u'0');
    table_->setColumnWidth(BreakdownModel::bytes, digit * 10);
    table_->setColumnWidth(BreakdownModel::share, digit * 7);
    for (const int wide : {BreakdownModel::component, BreakdownModel::step}) {
        table_->horizontalHeader()->setSectionResizeMode(wide, QHeaderView::Stretch);
    }
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->setMinimumWidth(digit * 58);
    add_copy_actions(table_);
    notes_ = new QLabel;
    notes_->setWordWrap(true);
    notes_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    notes_->setAccessibleName(tr("Data gaps of the breakdown"));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(4);
    column->addWidget(sentence_);
    column->addWidget(table_, 1);
    column->addWidget(notes_);
    return side;
}

void BreakdownPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    task_.abandon();
    session_ = session && session->has_device() ? session : nullptr;
    plot_->set_session(session);
    model_->show(std::nullopt);
    gaps_.clear();
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &BreakdownPane::schedule);
        connect(&session_->selection(), &Selection::device_changed, this, &BreakdownPane::schedule);
        connect(session_, &Session::grown, this, &BreakdownPane::schedule);
        update_colors();
        request();
    }
    show_sentences();
}

void BreakdownPane::schedule() {
    if (!delay_.isActive()) {
        delay_.start();
    }
}

std::shared_ptr<const BreakdownPane::Answer> BreakdownPane::answer(const LazyBreakdown& breakdown,
                                                                   const TimePoint& time_point) {
    return std::make_shared<const Answer>(Answer{breakdown.get().at(time_point), breakdown.get().gaps()});
}

void BreakdownPane::request() {
    stale_ = !isVisible();
    if (session_ && !stale_ && !task_.busy()) {
        task_.start([breakdown = session_->shared_breakdown(), time_point = session_->selection().state().time_point](
                        Progress&) { return answer(*breakdown, time_point); });
    } else if (session_ && !stale_) {
        schedule();  // the running request delivers first, so the table changes while the cursor moves
    }
}

void BreakdownPane::take(const std::shared_ptr<const Answer>& answer) {
    gaps_ = answer->gaps;
    model_->show(answer->row);
    show_sentences();
    show_selected_component();
}

void BreakdownPane::select_component(ComponentKind kind) {
    selected_component_ = kind;
    if (!stale_ && !busy()) {
        show_selected_component();
    }
}

void BreakdownPane::show_selected_component() {
    if (!selected_component_ || busy()) {
        return;
    }
    const ComponentKind kind = *std::exchange(selected_component_, std::nullopt);
    const auto& row = model_->row();
    const auto begin = row ? row->components.begin() : decltype(row->components.begin())();
    const auto end = row ? row->components.end() : begin;
    const auto found = std::find_if(begin, end, [&](const Component& component) { return component.kind == kind; });
    if (found != end) {
        table_->selectRow(static_cast<int>(found - begin));
    } else {
        table_->clearSelection();
    }
}

void BreakdownPane::update_colors() {
    model_->set_brush_of([components = plot_->picture().components, most = plot_->picture().most,
                          theme = Theme::current()](const Component& component) {
        return component_brush(theme, component.kind,
                               nth_of_kind(components, most, {component.kind, component.name, component.pid}));
    });
}

void BreakdownPane::show_sentences() {
    const auto& row = model_->row();
    QString text = session_ ? QString() : tr("Open a trace to see the composition of its GPU memory.");
    if (row && row->device_used) {
        const QString used = bytes_text(*row->device_used);
        text = row->device_total > 0
                   ? tr("At the cursor, nvidia-smi shows <b>%1</b> of %2 in use. The table lists its components.")
                         .arg(used, bytes_text(row->device_total))
                   : tr("At the cursor, nvidia-smi shows <b>%1</b> in use. The table lists its components.").arg(used);
    } else if (row) {
        text =
            tr("PyTorch's allocator has reserved the memory listed here. The trace has no nvidia-smi figure. A "
               "recording by Tidemark (File › Record…) adds it, with the memory of the driver, libraries, the CUDA "
               "context and other processes.");
    }
    sentence_->setText(with_whole_units(text));
    notes_->setText(gaps_text());
    notes_->setVisible(!gaps_.empty());
    table_->setVisible(row.has_value());
}

QString BreakdownPane::gaps_text() const {
    QStringList lines;
    for (const BreakdownGap& gap : gaps_) {
        lines << QStringLiteral("• ") + to_qstring(breakdown_gap_words(reader_words(), gap)).toHtmlEscaped();
    }
    return lines.join(QStringLiteral("<br>"));
}

void BreakdownPane::export_csv(const QString& path) {
    QString error;
    write_model_csv(*model_, path, &error);
    emit export_finished(path, error);
}

void BreakdownPane::render_to(QPaintDevice& device, QSize size) {
    if (session_) {
        take(answer(*session_->shared_breakdown(), session_->selection().state().time_point));
        plot_->refresh_now();
    }
    const QSize before = this->size();
    resize(size);
    QPainter painter(&device);
    render(&painter);
    resize(before);
}

void BreakdownPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void BreakdownPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update_colors();
    }
}

}  // namespace tidemark::gui
