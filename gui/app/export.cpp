// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/export.h"

#include <QApplication>
#include <QFile>
#include <QImage>
#include <QPalette>
#include <QSaveFile>
#include <QSvgGenerator>

#include "gui/model/explained.h"

namespace tidemark::gui {

namespace {
Error cannot_write(const QSaveFile& file) {
    return environment_error("{path} cannot be written: {reason}.", with("path", file.fileName().toStdString()),
                             with("reason", file.errorString().toStdString()));
}
}  // namespace

QImage picture_of(QSize size, double ratio, const PaintOn& paint) {
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(QApplication::palette().color(QPalette::Window));
    paint(image, size);
    return image;
}

Status save_text(const QString& path, const std::string& text) {
    QSaveFile file(path);
    const bool written = file.open(QIODevice::WriteOnly) &&
                         file.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size());
    return written && file.commit() ? Status() : Status(cannot_write(file));
}

std::string explanation_document(const QString& path, const Explained& explained) {
    const ReportInput reported[] = {explained.reported()};
    const bool markdown = path.endsWith(QLatin1String(".md"), Qt::CaseInsensitive);
    return markdown ? report_markdown(reported, explained.words()) : report_html(reported, explained.words());
}

Status save_picture(const QString& path, QSize size, double ratio, const QString& title, const PaintOn& paint) {
    const bool svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    if (!svg && !path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive)) {
        return usage_error("{path} is not a picture file name. Use the ending .png or .svg.",
                           with("path", path.toStdString()));
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return cannot_write(file);
    }
    if (svg) {
        QSvgGenerator generator;
        generator.setOutputDevice(&file);
        generator.setSize(size);
        generator.setViewBox(QRect(QPoint(0, 0), size));
        generator.setTitle(title);
        generator.setDescription(QStringLiteral("Tidemark " TIDEMARK_VERSION));
        paint(generator, size);
    } else if (!picture_of(size, ratio, paint).save(&file, "PNG")) {
        return cannot_write(file);
    }
    return file.commit() ? Status() : Status(cannot_write(file));
}

}  // namespace tidemark::gui
