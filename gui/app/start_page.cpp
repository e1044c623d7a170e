// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/start_page.h"

#include <QClipboard>
#include <QDateTime>
#include <QFileInfo>
#include <QFontDatabase>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <optional>

#include "gui/app/examples.h"
#include "gui/app/file_card.h"
#include "gui/app/settings.h"
#include "gui/model/file_name.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {

QLabel* centered(const QString& text, double size, bool bold) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    QFont font = label->font();
    font.setPointSizeF(font.pointSizeF() * size);
    font.setBold(bold);
    label->setFont(font);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    return label;
}

constexpr int start_page_width = 1240;  // pixels
constexpr int copied_pause = 2000;      // milliseconds

QLabel* heading(const QString& text) {
    auto* label = new QLabel(text);
    QFont font = label->font();
    font.setBold(true);
    font.setPointSizeF(font.pointSizeF() * 1.1);
    label->setFont(font);
    return label;
}

QLabel* paragraph(const QString& text) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

/// The target of dragged files: a dashed frame around its content.
class DropZone : public QWidget {
public:
    void set_active(bool on) {
        active_ = on;
        update();
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        const Theme theme = Theme::current();
        const QColor highlight = palette().color(QPalette::Highlight);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(active_ ? highlight : theme.faint_text, active_ ? 2 : 1, Qt::DashLine));
        painter.setBrush(active_ ? mixed(theme.plot_background, highlight, 0.15) : theme.plot_background);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
    }

private:
    bool active_ = false;
};

/// Returns lines to copy, with their button.
QWidget* snippet(const QString& name, const QString& code, const QString& tip) {
    auto* box = new QFrame;
    box->setFrameShape(QFrame::StyledPanel);
    box->setBackgroundRole(QPalette::Base);
    box->setAutoFillBackground(true);
    auto* text = new QLabel(code);
    text->setObjectName(name);
    text->setTextFormat(Qt::PlainText);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    text->setMinimumWidth(100);
    text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    text->setToolTip(tip_text(code));
    auto* copy = tool_button(StartPage::tr("Copy"), tip, [code] { QGuiApplication::clipboard()->setText(code); });
    copy->setObjectName(QStringLiteral("copy_") + name);
    copy->setFocusPolicy(Qt::StrongFocus);
    QObject::connect(copy, &QToolButton::clicked, copy, [copy] {
        copy->setText(StartPage::tr("Copied"));
        QTimer::singleShot(copied_pause, copy, [copy] { copy->setText(StartPage::tr("Copy")); });
    });
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(10, 6, 6, 6);
    row->addWidget(text, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    return box;
}

std::optional<Severity> severity_of_word(const QString& word) {
    for (const Severity severity : {Severity::leak, Severity::failure, Severity::waste, Severity::pattern}) {
        if (word == QLatin1String(severity_word(severity))) {
            return severity;
        }
    }
    return std::nullopt;
}

/// Returns the headline; in a window of another language only the severity of the first finding.
QString line_of(const FileSummary& summary) {
    const Words words = reader_words();
    const auto severity = severity_of_word(summary.severity);
    return summary.language == QLatin1String(language_name(words.language())) ? summary.headline
           : severity ? to_qstring(severity_title(words, *severity))
                      : QString();
}

FileCardText card_text(const QString& file, const FileSummary& summary) {
    const QFileInfo info(file);
    FileCardText text{shown_file_name(info.fileName()),
                      shown_file_name(info.absolutePath()),
                      line_of(summary),
                      {},
                      severity_of_word(summary.severity),
                      !info.exists()};
    QStringList facts;
    if (text.missing) {
        facts << StartPage::tr("The file is missing");
    }
    if (summary.peak_bytes > 0) {
        facts << StartPage::tr("peak %1 allocated").arg(bytes_text(static_cast<int64_t>(summary.peak_bytes)));
    }
    if (!summary.device.isEmpty()) {
        facts << summary.device;
    }
    const QDateTime recorded =
        summary.recorded_time > 0 ? QDateTime::fromMSecsSinceEpoch(summary.recorded_time) : info.lastModified();
    if (recorded.isValid()) {
        facts << QLocale().toString(recorded, QLocale::ShortFormat);
    }
    text.facts = facts.join(QStringLiteral(" · "));
    return text;
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent), drop_zone_(new DropZone), left_(new QVBoxLayout) {
    auto* right = new QVBoxLayout;
    left_->setSpacing(8);
    right->setSpacing(8);
    left_->addWidget(make_buttons());
    left_->addSpacing(8);
    left_->addStretch(1);
    right->addWidget(make_examples());
    right->addSpacing(8);
    right->addWidget(make_snippets());
    right->addStretch(1);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(28);
    columns->addLayout(left_, 1);
    columns->addLayout(right, 1);

    auto* content = new QWidget;
    content->setMaximumWidth(start_page_width);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(20, 18, 20, 18);
    column->addWidget(centered(QStringLiteral("Tidemark"), 2.0, true));
    column->addWidget(centered(tr("Why GPU memory goes up and does not come back down"), 1.15, false));
    column->addSpacing(12);
    column->addLayout(columns, 1);
    auto* area = new QScrollArea;
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    area->setAlignment(Qt::AlignHCenter);
    area->setWidget(content);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(area);
}

QWidget* StartPage::make_buttons() {
    auto* open = new QPushButton(tr("Open a trace or a snapshot…"));
    open->setDefault(true);
    open->setMinimumHeight(36);
    connect(open, &QPushButton::clicked, this, &StartPage::open_requested);
    auto* record = new QPushButton(tr("Record a program…"));
    record->setMinimumHeight(36);
    connect(record, &QPushButton::clicked, this, &StartPage::record_requested);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(open, 1);
    buttons->addWidget(record, 1);
    auto* column = new QVBoxLayout(drop_zone_);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(10);
    column->addWidget(centered(tr("Drop a file here"), 1.15, true));
    column->addWidget(
        centered(tr("a Tidemark trace (.tide) or a PyTorch memory snapshot (.pickle, also compressed)"), 1, false));
    column->addLayout(buttons);
    return drop_zone_;
}

QWidget* StartPage::make_examples() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(heading(tr("Examples, recorded on an H200")));
    const std::vector<Example> all = examples();
    for (const Example& example : all) {
        auto* card = new FileCard({example.title, {}, example.sentence, {}});
        connect(card, &FileCard::clicked, this, [this, file = example.file] { emit file_selected(file); });
        column->addWidget(card);
    }
    box->setVisible(!all.empty());
    return box;
}

QWidget* StartPage::make_snippets() {
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(heading(tr("Get something to open")));
    column->addWidget(paragraph(tr("Record everything, on the machine with the GPU:")));
    column->addWidget(snippet(QStringLiteral("record"),
                              QStringLiteral("tidemark record -o run.tide -- python train.py"),
                              tr("Copy the command")));
    column->addWidget(
        paragraph(tr("Or add PyTorch's own memory history to the program. It has no operators, modules "
                     "or graph:")));
    column->addWidget(snippet(QStringLiteral("snapshot"),
                              QStringLiteral("torch.cuda.memory._record_memory_history()\n"
                                             "...  # the program\n"
                                             "torch.cuda.memory._dump_snapshot(\"run.pickle\")"),
                              tr("Copy the lines")));
    return box;
}

void StartPage::show_recent_files(const Settings& settings) {
    delete recent_;
    recent_ = new QWidget;
    auto* column = new QVBoxLayout(recent_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(heading(tr("Recent files")));
    const QStringList files = settings.recent_files();
    for (const QString& file : files) {
        auto* card = new FileCard(card_text(file, settings.summary_of(file)));
        connect(card, &FileCard::clicked, this, [this, file] { emit file_selected(file); });
        auto* remove = tool_button(QStringLiteral("×"), tr("Remove %1 from the list").arg(card->text()), [this, file] {
            // Later: the list is made again, without this button.
            QMetaObject::invokeMethod(
                this, [this, file] { emit removal_requested(file); }, Qt::QueuedConnection);
        });
        remove->setFocusPolicy(Qt::StrongFocus);
        auto* row = new QHBoxLayout;
        row->setSpacing(2);
        row->addWidget(card, 1);
        row->addWidget(remove);
        column->addLayout(row);
    }
    if (files.isEmpty()) {
        column->addWidget(paragraph(tr("Files that you open are listed here, with what their explanation says.")));
    }
    left_->insertWidget(left_->count() - 1, recent_);  // above the stretch
}

void StartPage::set_drop_target(bool on) { static_cast<DropZone*>(drop_zone_)->set_active(on); }

LoadingPage::LoadingPage(QWidget* parent)
    : QWidget(parent), file_(centered({}, 1.3, true)), phase_(centered({}, 1, false)), bar_(new QProgressBar) {
    bar_->setRange(0, 1000);
    bar_->setAccessibleName(tr("Progress"));
    bar_->setFixedWidth(420);
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setShortcut(Qt::Key_Escape);
    connect(cancel, &QPushButton::clicked, this, &LoadingPage::cancel_requested);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(12);
    column->addStretch(1);
    column->addWidget(file_);
    column->addWidget(phase_);
    column->addWidget(bar_, 0, Qt::AlignCenter);
    column->addWidget(cancel, 0, Qt::AlignCenter);
    column->addStretch(2);
}

void LoadingPage::start(const QString& file) {
    file_->setText(tr("Opening %1").arg(shown_file_name(QFileInfo(file).fileName())));
    phase_->clear();
    bar_->setValue(0);
}

void LoadingPage::show_progress(const QString& phase, double fraction) {
    phase_->setText(phase);
    bar_->setValue(static_cast<int>(fraction * 1000));
}

MessageBar::MessageBar(QWidget* parent) : QWidget(parent), icon_(new QLabel), text_(new QLabel) {
    setObjectName(QStringLiteral("message"));
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setAccessibleName(tr("Message"));
    auto* close = new QToolButton;
    close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
    close->setAutoRaise(true);
    close->setAccessibleName(tr("Close the message"));
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 6, 6);
    row->addWidget(icon_);
    row->addWidget(text_, 1);
    row->addWidget(close);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    hide();
}

void MessageBar::show_message(const QString& sentence, bool problem) {
    const auto icon = style()->standardIcon(problem ? QStyle::SP_MessageBoxWarning : QStyle::SP_MessageBoxInformation);
    icon_->setPixmap(icon.pixmap(20, 20));
    text_->setText(sentence);
    show();
}

QString MessageBar::text() const { return text_->text(); }

}  // namespace tidemark::gui
