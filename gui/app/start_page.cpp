// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/start_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/file_name.h"
#include "gui/model/text.h"

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

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
    auto* open = new QPushButton(tr("Open a trace or a snapshot…"));
    open->setDefault(true);
    open->setMinimumHeight(36);
    connect(open, &QPushButton::clicked, this, &StartPage::open_requested);
    auto* record = new QPushButton(tr("Record a program…"));
    record->setMinimumHeight(36);
    connect(record, &QPushButton::clicked, this, &StartPage::record_requested);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(open);
    buttons->addWidget(record);
    buttons->addStretch(1);
    recent_title_ = new QLabel(tr("Recent files"));
    recent_ = new QListWidget;
    recent_->setAccessibleName(recent_title_->text());
    recent_->setMaximumHeight(240);
    connect(recent_, &QListWidget::itemActivated, this,
            [this](QListWidgetItem* item) { emit file_selected(item->data(Qt::UserRole).toString()); });
    connect(recent_, &QListWidget::itemClicked, this,
            [this](QListWidgetItem* item) { emit file_selected(item->data(Qt::UserRole).toString()); });

    auto* middle = new QWidget;
    middle->setMaximumWidth(620);
    auto* column = new QVBoxLayout(middle);
    column->setSpacing(14);
    column->addStretch(2);
    column->addWidget(centered(QStringLiteral("Tidemark"), 2.2, true));
    column->addWidget(centered(tr("Why GPU memory goes up and does not come back down"), 1.15, false));
    column->addLayout(buttons);
    column->addWidget(
        centered(tr("or drop a file here: a Tidemark trace (.tide) or a PyTorch memory snapshot (.pickle, also "
                    "compressed), as torch.cuda.memory._dump_snapshot() writes it"),
                 1, false));
    column->addWidget(recent_title_);
    column->addWidget(recent_);
    column->addStretch(3);
    auto* row = new QHBoxLayout(this);
    row->addStretch(1);
    row->addWidget(middle, 2);
    row->addStretch(1);
    set_recent_files({});
}

void StartPage::set_recent_files(const QStringList& files) {
    recent_->clear();
    for (const QString& file : files) {
        const QFileInfo info(file);
        auto* item = new QListWidgetItem(shown_file_name(info.fileName() + QStringLiteral("   ") + info.absolutePath()),
                                         recent_);
        item->setData(Qt::UserRole, file);
        item->setToolTip(tip_text(shown_file_name(file)));
    }
    recent_->setVisible(!files.isEmpty());
    recent_title_->setVisible(!files.isEmpty());
}

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
