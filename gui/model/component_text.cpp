// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/component_text.h"

#include "gui/model/text.h"
#include "storage/text/fact_words.h"

namespace tidemark::gui {

QString component_name(const Component& component) {
    return to_qstring(tidemark::component_name(reader_words(), component));
}

QString component_help(ComponentKind kind) { return to_qstring(tidemark::component_help(reader_words(), kind)); }

}  // namespace tidemark::gui
