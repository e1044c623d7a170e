// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/export.h"

#include <QApplication>
#include <QBuffer>
#include <QImage>
#include <QPalette>
#include <QScreen>
#include <QSvgGenerator>

#include "gui/model/explained.h"
#include "gui/model/file_name.h"
#include "storage/base/part_file.h"

namespace tidemark::gui {

QImage picture_of(QSize size, double ratio, const PaintOn& paint) {
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(QApplication::palette().color(QPalette::Window));
    paint(image, size);
    return image;
}

Status save_text(const QString& path, const std::string& text) { return write_file(bytes_of_file_name(path), text); }

std::string explanation_document(const QString& path, const Explained& explained) {
    const ReportInput reported[] = {explained.reported()};
    const bool markdown = path.endsWith(QLatin1String(".md"), Qt::CaseInsensitive);
    return markdown ? report_markdown(reported, explained.words()) : report_html(reported, explained.words());
}

Status save_picture(const QString& path, QSize size, double ratio, const QString& title, const PaintOn& paint) {
    const bool svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    if (!svg && !path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive)) {
        return usage_error("{path} is not a picture file name. Use the ending .png or .svg.",
                           with("path", bytes_of_file_name(path)));
    }
    QByteArray content;
    QBuffer buffer(&content);
    buffer.open(QIODevice::WriteOnly);
    if (svg) {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(size);
        // Else its text is smaller than in the window: it counts 72 dots per inch.
        generator.setResolution(qRound(QApplication::primaryScreen()->logicalDotsPerInch()));
        generator.setViewBox(QRect(QPoint(0, 0), size));
        generator.setTitle(title);
        generator.setDescription(QStringLiteral("Tidemark " TIDEMARK_VERSION));
        paint(generator, size);
        // Browsers do not know the desktop's names of fonts.
        const QByteArray family = "font-family=\"" + QApplication::font().family().toUtf8();
        content.replace(family + '"', family + ", sans-serif\"");
    } else if (!picture_of(size, ratio, paint).save(&buffer, "PNG")) {
        return environment_error(
            "There is not enough memory for this. End other programs, or use a machine with more memory.");
    }
    return save_text(path, content.toStdString());
}

}  // namespace tidemark::gui
