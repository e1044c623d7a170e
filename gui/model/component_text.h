// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The words for the components of the memory breakdown: name, meaning, and what reduces it.
#pragma once

#include <QString>

#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

QString component_name(const Component& component);
/// Two or three plain sentences.
QString component_help(ComponentKind kind);

}  // namespace tidemark::gui
