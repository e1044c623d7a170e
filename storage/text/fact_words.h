// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Names of the facts of a trace (storage/trace/facts.h) for users, in their language. Command, reports and window use
// no other names.
#pragma once

#include <string>

#include "storage/attribution/attribution.h"
#include "storage/breakdown/breakdown.h"
#include "storage/graph/graph_index.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns "cached segments", "libcublas.so.13, outside the caching allocator", "process 4711".
std::string component_name(const Words& words, const Component& component);
/// Returns the name of all components of a kind: "libraries outside the caching allocator", "other processes on this
/// GPU".
std::string component_name(const Words& words, ComponentKind kind);
/// Explains a component and how to change it, in two or three sentences.
std::string component_help(const Words& words, ComponentKind kind);

/// Returns the name of a category, the same in the command, in reports and in the window: "parameters", "saved for
/// backward".
std::string category_name(const Words& words, Category category);

/// Returns the name of a group of allocations: of a category, "outside steps", "no module". Names that come from the
/// program ("train.py:42 forward") stay as they are. `name` is as in AttributionGroup.
std::string group_words(const Words& words, GroupBy by, const std::string& name);

/// Returns "not backpropagated", "executed, saved tensors retained (retain_graph)", "released".
std::string node_state_name(const Words& words, NodeState state);
/// Returns the same of a node at a time, "not backpropagated yet" in a forward pass and "never backpropagated" if no
/// backward follows.
std::string node_state_name(const Words& words, const GraphIndex& index, NodeIndex node, int64_t time);
/// Explains the state of a node in one sentence.
std::string node_state_sentence(const Words& words, const GraphIndex& index, NodeIndex node, int64_t time);

/// Returns what the event did: "allocated 2.00 MiB", "reserved a segment of 20.0 MiB". Requires an event of the device.
std::string event_words(const Words& words, const DeviceHistory& device, EventNumber event);

/// Returns the origin of a trace: "recording of process 4711", or the name of the imported snapshot.
std::string source_words(const Words& words, const Trace& trace);

/// Returns "every byte is as it was written"; the reason if that is unknown.
std::string integrity_words(const Words& words, Integrity integrity);

/// Returns "killed by signal 9"; empty if it is not recorded.
std::string process_end_name(const Words& words, const Fact<ProcessEnd>& end);
/// Returns a sentence; empty if the end is not recorded.
std::string process_end_words(const Words& words, const Process& process);

/// Returns "end", "mark `epoch`".
std::string scan_reason_words(const Words& words, const Fact<ScanReason>& reason);

}  // namespace tidemark
