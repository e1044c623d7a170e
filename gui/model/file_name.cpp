// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/file_name.h"

#include <QByteArray>
#include <QUrl>

#include "gui/model/text.h"
#include "storage/base/utf8.h"

namespace tidemark::gui {
namespace {

constexpr char16_t byte_zero = 0xdc00;

bool is_byte(QChar c) { return c >= QChar(byte_zero + 0x80) && c <= QChar(byte_zero + 0xff); }

}  // namespace

QString file_name_from_bytes(std::string_view bytes) {
    QString name;
    while (!bytes.empty()) {
        const Character character = first_character(bytes);
        if (character.is_valid()) {
            name += QString::fromUtf8(bytes.data(), static_cast<qsizetype>(character.bytes));
        } else {
            name += QChar(static_cast<char16_t>(byte_zero + static_cast<unsigned char>(bytes.front())));
        }
        bytes.remove_prefix(character.bytes);
    }
    return name;
}

std::string bytes_of_file_name(const QString& name) {
    std::string bytes;
    qsizetype start = 0;
    for (qsizetype i = 0; i < name.size(); ++i) {
        const bool follows_high = i > 0 && name[i - 1].isHighSurrogate();
        if (is_byte(name[i]) && !follows_high) {
            bytes += QStringView(name).mid(start, i - start).toUtf8().toStdString();
            bytes += static_cast<char>(name[i].unicode() - byte_zero);
            start = i + 1;
        }
    }
    return bytes + QStringView(name).mid(start).toUtf8().toStdString();
}

QString shown_file_name(const QString& name) { return to_qstring(bytes_of_file_name(name)); }

QString file_name_of_url(const QUrl& url) {
    const QByteArray bytes = QByteArray::fromPercentEncoding(url.path(QUrl::FullyEncoded).toLatin1());
    return file_name_from_bytes(std::string_view(bytes.data(), static_cast<size_t>(bytes.size())));
}

}  // namespace tidemark::gui
