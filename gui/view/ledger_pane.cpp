#include "gui/view/ledger_pane.h"

#include <QAction>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/model/lazy_ledger.h"
#include "gui/model/text.h"
#include "gui/plot/ledger_plot.h"
#include "gui/view/delimited.h"
#include "gui/view/table_style.h"

namespace tidemark::gui {

namespace {

constexpr int scrubbing_pause = 40;  // milliseconds

/// Bars that begin where the layer before ends: together they reach what nvidia-smi shows.
class StepDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const Theme theme = Theme::current();
        const QRectF room = QRectF(option.rect).adjusted(6, 3, -6, -3);
        const double from = index.data(LedgerModel::from_role).toDouble(),
                     to = index.data(LedgerModel::to_role).toDouble();
        QRectF bar(room.left() + from * room.width(), room.top(), std::max((to - from) * room.width(), 1.5),
                   room.height());
        bar.moveRight(std::min(bar.right(), room.right()));
        const QVariant brush = index.data(LedgerModel::brush_role);
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

/// A square as the bars are filled, before the layer's name.
class LayerDelegate : public QStyledItemDelegate {
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
        const QVariant brush = index.data(LedgerModel::brush_role);
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

LedgerPane::LedgerPane(QWidget* parent)
    : QWidget(parent),
      model_(new LedgerModel(this)),
      task_(this, [this](const std::shared_ptr<const Answer>& answer) { take(answer); }),
      plot_(new LedgerPlot) {
    setAccessibleName(tr("Ledger: from requested bytes to nvidia-smi"));
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->addWidget(plot_);
    split->addWidget(make_table());
    split->setChildrenCollapsible(false);
    split->setHandleWidth(5);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 0);
    split->setSizes({640, 620});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split);
    delay_.setSingleShot(true);
    delay_.setInterval(scrubbing_pause);
    connect(&delay_, &QTimer::timeout, this, &LedgerPane::request);
    connect(plot_, &LedgerPlot::layers_changed, this, &LedgerPane::update_colors);
    set_session(nullptr);
}

QWidget* LedgerPane::make_table() {
    auto* side = new QWidget;
    moment_ = new QLabel;
    moment_->setWordWrap(true);
    moment_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    moment_->setAccessibleName(tr("The cursor's ledger"));
    table_ = new QTableView;
    table_->setModel(model_);
    table_->setAccessibleName(tr("Layers at the cursor"));
    set_table_style(table_);
    table_->setItemDelegateForColumn(LedgerModel::layer, new LayerDelegate(table_));
    table_->setItemDelegateForColumn(LedgerModel::step, new StepDelegate(table_));
    const int digit = fontMetrics().horizontalAdvance(u'0');
    table_->setColumnWidth(LedgerModel::layer, digit * 30);
    table_->setColumnWidth(LedgerModel::bytes, digit * 11);
    table_->setColumnWidth(LedgerModel::share, digit * 8);
    table_->horizontalHeader()->setSectionResizeMode(LedgerModel::step, QHeaderView::Stretch);
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->setMinimumWidth(digit * 58);
    auto* copy = new QAction(tr("Copy rows"), table_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, [this] { copy_rows(*table_); });
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    notes_ = new QLabel;
    notes_->setWordWrap(true);
    notes_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    notes_->setAccessibleName(tr("What the ledger cannot tell"));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(4);
    column->addWidget(moment_);
    column->addWidget(table_, 1);
    column->addWidget(notes_);
    return side;
}

void LedgerPane::set_session(Session* session) {
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
        connect(&session_->selection(), &Selection::moment_changed, this, &LedgerPane::schedule);
        connect(&session_->selection(), &Selection::device_changed, this, &LedgerPane::schedule);
        connect(session_, &Session::grown, this, &LedgerPane::schedule);
        update_colors();
        request();
    }
    show_sentences();
}

void LedgerPane::schedule() {
    if (!delay_.isActive()) {
        delay_.start();
    }
}

std::shared_ptr<const LedgerPane::Answer> LedgerPane::answer(const LazyLedger& ledger, EventNumber moment) {
    return std::make_shared<const Answer>(
        Answer{ledger.get().at(moment), ledger_gaps(ledger.analysis().trace(), ledger.analysis().device())});
}

void LedgerPane::request() {
    stale_ = !isVisible();
    if (session_ && !stale_ && !task_.busy()) {
        task_.start([ledger = session_->shared_ledger(), moment = session_->selection().state().moment](Progress&) {
            return answer(*ledger, moment);
        });
    } else if (session_ && !stale_) {
        schedule();  // the answer being made is shown first: a moving cursor never starves the table
    }
}

void LedgerPane::take(const std::shared_ptr<const Answer>& answer) {
    gaps_ = answer->gaps;
    model_->show(answer->row);
    show_sentences();
    show_chosen_layer();
}

void LedgerPane::choose_layer(LayerKind kind) {
    chosen_layer_ = kind;
    if (!stale_ && !busy()) {
        show_chosen_layer();
    }
}

void LedgerPane::show_chosen_layer() {
    if (!chosen_layer_ || busy()) {
        return;
    }
    const LayerKind kind = *std::exchange(chosen_layer_, std::nullopt);
    const auto& row = model_->row();
    const auto begin = row ? row->layers.begin() : decltype(row->layers.begin())();
    const auto end = row ? row->layers.end() : begin;
    const auto found = std::find_if(begin, end, [&](const Layer& layer) { return layer.kind == kind; });
    if (found != end) {
        table_->selectRow(static_cast<int>(found - begin));
    } else {
        table_->clearSelection();
    }
}

void LedgerPane::update_colors() {
    model_->set_brush_of([layers = plot_->picture().layers, theme = Theme::current()](const Layer& layer) {
        return layer_brush(theme, layer.kind, nth_of_kind(layers, {layer.kind, layer.name, layer.pid}));
    });
}

void LedgerPane::show_sentences() {
    const auto& row = model_->row();
    QString text = session_ ? QString() : tr("Open a trace to see what its GPU's memory is made of.");
    if (row && row->device_used) {
        text = row->device_total > 0
                   ? tr("At %1 nvidia-smi shows <b>%2</b> of %3 in use; this is what it is made of.")
                         .arg(moment_text(row->time), bytes_text(static_cast<uint64_t>(*row->device_used)),
                              bytes_text(static_cast<uint64_t>(row->device_total)))
                   : tr("At %1 nvidia-smi shows <b>%2</b> in use; this is what it is made of.")
                         .arg(moment_text(row->time), bytes_text(static_cast<uint64_t>(*row->device_used)));
    } else if (row) {
        text =
            tr("At %1 PyTorch's allocator holds what is listed here. nvidia-smi's figure was not recorded: a "
               "recording by Tidemark (File › Record…) adds it, and what the driver, libraries, the CUDA context and "
               "other processes hold.")
                .arg(moment_text(row->time));
    }
    moment_->setText(text);
    notes_->setText(gaps_text());
    notes_->setVisible(!gaps_.empty());
    table_->setVisible(row.has_value());
}

QString LedgerPane::gaps_text() const {
    QStringList lines;
    for (const std::string& gap : gaps_) {
        lines << QStringLiteral("• ") + to_qstring(gap).toHtmlEscaped();
    }
    return lines.join(QStringLiteral("<br>"));
}

bool LedgerPane::export_csv(const QString& path, QString* error) { return write_model_csv(*model_, path, error); }

void LedgerPane::render_to(QPaintDevice& device, QSize size) {
    if (session_) {
        take(answer(*session_->shared_ledger(), session_->selection().state().moment));
        plot_->refresh_now();
    }
    const QSize before = this->size();
    resize(size);
    QPainter painter(&device);
    render(&painter);
    resize(before);
}

void LedgerPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void LedgerPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update_colors();
    }
}

}  // namespace tidemark::gui
