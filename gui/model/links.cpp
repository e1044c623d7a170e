// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/links.h"

#include "gui/model/text.h"

namespace tidemark::gui {

QString link_to(const char* kind, int64_t number) {
    return QStringLiteral("%1:%2").arg(QLatin1String(kind)).arg(number);
}

QString line_link(const QString& path, int line) {
    return QStringLiteral("line:%1:%2").arg(line).arg(QString::fromLatin1(path.toUtf8().toPercentEncoding("/")));
}

QString line_link(const StackTable& stacks, FrameId frame) {
    const Frame& f = stacks.frame(frame);
    return line_link(to_qstring(stacks.string(f.file)), f.line);
}

}  // namespace tidemark::gui
