// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects with one cause, joined into one.
#pragma once

#include "storage/explain/leak_suspects.h"

namespace tidemark {

/// Adds the memory of another suspect of the same interval, which has the same cause.
void join(LeakSuspect& suspect, const LeakSuspect& other);
/// Returns whether two attributes of one object retain the suspects, and both grow from about the same iteration on:
/// the lists of a metric, the keys and values of a cache. The object is an attribute or an element itself: attributes
/// of a variable, such as `self`, may have nothing to do with each other.
bool are_of_one_object(const GraphTables& tables, const LeakSuspect& a, const LeakSuspect& b);
/// Like join(), for suspects that are_of_one_object(). Their object retains the suspect.
void join_attributes(const GraphTables& tables, LeakSuspect& suspect, const LeakSuspect& other);

}  // namespace tidemark
