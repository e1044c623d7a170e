// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// File names as QString. A name on Linux is bytes, which need not be UTF-8; Qt's own conversion loses such bytes.
//
// In the QString, a byte that is not UTF-8 is the lone surrogate U+DC80 to U+DCFF, as in Python. Names that users see
// go through shown_file_name().
#pragma once

#include <QString>
#include <string>
#include <string_view>

class QUrl;

namespace tidemark::gui {

QString file_name_from_bytes(std::string_view bytes);
std::string bytes_of_file_name(const QString& name);

/// Returns a name or path to show: escapes replace the bytes and characters that cannot be shown.
QString shown_file_name(const QString& name);

/// Returns the path of a local file. Requires url.isLocalFile().
QString file_name_of_url(const QUrl& url);

}  // namespace tidemark::gui
