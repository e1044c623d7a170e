// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What readers see for the facts of a trace (storage/format/facts.h), in the reader's language. Command, reports and
// window have no other words for them.
#pragma once

#include <string>

#include "storage/breakdown/breakdown.h"
#include "storage/graph/graph_index.h"
#include "storage/text/words.h"

namespace tidemark {

/// "cached segments", "libcublas.so.13, outside the caching allocator", "process 4711"
std::string component_name(const Words& words, const Component& component);
/// All components of a kind: "libraries outside the caching allocator", "other processes on this GPU"
std::string component_name(const Words& words, ComponentKind kind);
/// What a component is and how to change it: two or three sentences.
std::string component_help(const Words& words, ComponentKind kind);

/// One allocation: "parameter", "saved for backward"
std::string category_name(const Words& words, Category category);
/// Memory of a category: "parameters", "activations saved for backward"
std::string category_words(const Words& words, Category category);

/// "not yet backpropagated", "executed, saved tensors kept (retain_graph)", "released"
std::string node_state_name(const Words& words, NodeState state);
/// What the state means, as a sentence.
std::string node_state_sentence(const Words& words, NodeState state);

/// "killed by signal 9"; empty if it is not recorded.
std::string process_end_name(const Words& words, const Fact<ProcessEnd>& end);
/// A sentence; empty if it is not recorded.
std::string process_end_words(const Words& words, const Process& process);

/// "end", "mark `epoch`"
std::string scan_reason_words(const Words& words, const Fact<ScanReason>& reason);

}  // namespace tidemark
