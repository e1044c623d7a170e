// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the main window writes: pictures, tables, the explanation, and copies to share.
#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QStatusBar>

#include "gui/app/main_window.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "gui/share/share_dialog.h"
#include "gui/widgets/ask_path.h"

namespace tidemark::gui {

std::vector<MainWindow::Exportable> MainWindow::exportables() {
    TracePage* page = page_;
    return {
        {QStringLiteral("why"), tr("Why"), &page->why(),
         [page](QPaintDevice& device, QSize size) { page->why().render_to(device, size); }},
        {QStringLiteral("timeline"), tr("Timeline"), &page->timeline(),
         [page](QPaintDevice& device, QSize size) { page->timeline().render_to(device, size); }},
        {QStringLiteral("allocations"), tr("Allocations"), &page->allocations(),
         [page](QPaintDevice& device, QSize size) { page->allocations().render_to(device, size); }},
        {QStringLiteral("segments"), tr("Segments"), &page->segments(),
         [page](QPaintDevice& device, QSize size) {
             QPainter painter(&device);
             page->segments().render_to(painter, size);
         }},
        {QStringLiteral("graph"), tr("Graph"), &page->graph(),
         [page](QPaintDevice& device, QSize size) { page->graph().render_to(device, size); }},
        {QStringLiteral("breakdown"), tr("Memory breakdown"), &page->breakdown(),
         [page](QPaintDevice& device, QSize size) { page->breakdown().render_to(device, size); }},
        {QStringLiteral("overview"), tr("Overview"), &page->overview(),
         [page](QPaintDevice& device, QSize size) {
             QPainter painter(&device);
             page->overview().render_to(painter, size);
         }},
        {QStringLiteral("window"), tr("Whole window"), this,
         [this](QPaintDevice& device, QSize) {
             QPainter painter(&device);
             render(&painter);
         }},
    };
}

void MainWindow::show_result(const Status& status, const QString& success) {
    message_->show_message(status ? success : error_text(status.error()), !status);
}

void MainWindow::export_picture(const Exportable& what) {
    const QString folder = application_.settings().value(QStringLiteral("last_export_folder")).toString();
    const QString proposal = (folder.isEmpty() ? QString() : folder + '/') + QFileInfo(file_).completeBaseName() + '-' +
                             what.id + QStringLiteral(".png");
    ask_path_to_write(this, tr("Export %1").arg(what.name), proposal, {tr("Pictures (*.png *.svg)")},
                      [this, what](const QString& path) {
                          application_.settings().set(QStringLiteral("last_export_folder"),
                                                      QFileInfo(path).absolutePath());
                          show_result(save_picture(path, what.widget->size(), 2, what.name, what.paint),
                                      tr("Exported to %1").arg(shown_file_name(path)));
                      });
}

void MainWindow::copy_picture(const Exportable& what) {
    QApplication::clipboard()->setImage(picture_of(what.widget->size(), devicePixelRatioF(), what.paint));
    statusBar()->showMessage(tr("%1 copied").arg(what.name), 3000);
}

void MainWindow::export_table(const QString& name, const std::function<void(const QString& path)>& write) {
    const QString proposal = QFileInfo(file_).completeBaseName() + '-' + name + QStringLiteral(".csv");
    ask_path_to_write(this, tr("Export table"), proposal, {tr("CSV tables (*.csv)")}, write);
}

void MainWindow::show_export(const QString& path, const QString& error) {
    message_->show_message(error.isEmpty() ? tr("Exported to %1").arg(shown_file_name(path)) : error, !error.isEmpty());
}

void MainWindow::save_explanation() {
    const QString folder = application_.settings().value(QStringLiteral("last_export_folder")).toString();
    const QString proposal = (folder.isEmpty() ? QString() : folder + '/') + QFileInfo(file_).completeBaseName() +
                             QStringLiteral("-why.html");
    const QStringList filters{tr("Web page (*.html)"), tr("Markdown (*.md)")};
    const auto explained = page_->session()->explanation_source().explained();
    if (!explained) {
        return;
    }
    ask_path_to_write(this, tr("Save explanation"), proposal, filters, [this, explained](const QString& path) {
        application_.settings().set(QStringLiteral("last_export_folder"), QFileInfo(path).absolutePath());
        show_result(save_text(path, explanation_document(path, *explained)),
                    tr("Exported to %1").arg(shown_file_name(path)));
    });
}

void MainWindow::show_share_dialog() {
    Session& session = *page_->session();
    const QFileInfo trace(QString::fromStdString(session.trace().path));
    ShareInput input{trace.absoluteFilePath(), {}};
    if (const auto& range = session.selection().state().range; range && session.has_device()) {
        const TimeView& view = session.time_view();
        input.range = {view.time_at(range->first), view.time_at(range->second)};
    }
    // The name of the trace would tell what a redaction removes.
    QString proposal;
    for (int i = 1; proposal.isEmpty() || QFileInfo::exists(proposal); ++i) {
        const QString number = i == 1 ? QString() : QStringLiteral("-%1").arg(i);
        proposal = QStringLiteral("%1/shared%2.tide").arg(trace.absolutePath(), number);
    }
    auto* dialog = new ShareDialog(std::move(input), proposal, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

}  // namespace tidemark::gui
