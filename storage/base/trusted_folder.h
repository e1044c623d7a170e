// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Folders from which code is loaded, or through which processes talk: no other user may be able to change them.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark {

/// Checks a folder and all folders above it, with links followed: each belongs to this user or to root, and no other
/// user may write it. A folder such as /tmp, which everyone may write but with the sticky bit, may contain one that
/// passes. Write permission of a group in which only this user is counts as this user's. Errors (environment): one of
/// them can be changed by another user; there is no such folder.
Status check_trusted_folder(const std::string& path);

}  // namespace tidemark
