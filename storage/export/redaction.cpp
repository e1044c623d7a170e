// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/redaction.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/export/text_rules.h"

namespace tidemark {
namespace {

/// Walks through all texts of a trace and its graph.
class Redactor {
public:
    Redactor(Trace& trace, const Redaction& redaction, GraphTables* graph, RedactionLog& log)
        : trace_(trace), graph_(graph), redaction_(redaction), rules_(redaction, trace, graph), log_(log) {}

    AllowedTexts run() {
        redact_stacks();
        redact_origins();
        redact_spans();
        redact_source();
        redact_data_gaps();
        redact_surroundings();
        if (redaction_.times) {
            redact_times();
        }
        if (graph_ != nullptr) {
            redact_graph();
        }
        return rules_.allowed();
    }

private:
    void redact_stacks();
    void redact_origins();
    void redact_spans();
    void redact_source();
    void redact_data_gaps();
    void redact_surroundings();
    void redact_times();
    void redact_graph();

    /// Notes a replaced text, and returns what it is replaced by.
    std::string noted(RemovedKind kind, const std::string& before, std::string after) {
        log_.add(kind, before, after);
        return after;
    }
    std::string function(const std::string& name, const std::string& file) {
        return noted(RemovedKind::function, name, rules_.function(name, file));
    }
    std::string file(const std::string& path) { return noted(RemovedKind::path, path, rules_.file(path)); }
    std::string free_text(const std::string& text) {
        return noted(RemovedKind::free_text, text, rules_.free_text(text));
    }
    void log_source_lines();
    std::vector<bool> used_stacks();
    template <class Visit>
    void for_each_stack(Visit&& visit);

    Trace& trace_;
    GraphTables* graph_;  ///< nullptr: no graph
    Redaction redaction_;
    TextRules rules_;
    RedactionLog& log_;
};

template <class Visit>
void Redactor::for_each_stack(Visit&& visit) {
    for (DeviceHistory& device : trace_.devices) {
        std::for_each(device.allocations.stack.begin(), device.allocations.stack.end(), visit);
        std::for_each(device.allocations.free_stack.begin(), device.allocations.free_stack.end(), visit);
        for (Segment& segment : device.segments) {
            visit(segment.stack);
            visit(segment.free_stack);
        }
        for (OtherEvent& other : device.others) {
            visit(other.stack);
        }
    }
    for (DriverAllocation& allocation : trace_.driver_allocations) {
        visit(allocation.stack);
    }
    if (graph_ != nullptr) {
        std::for_each(graph_->nodes.stack.begin(), graph_->nodes.stack.end(), visit);
    }
}

std::vector<bool> Redactor::used_stacks() {
    std::vector<bool> used(trace_.stacks.stack_count(), false);
    for_each_stack([&](StackId& stack) { used[stack] = true; });
    for (StackId id = trace_.stacks.stack_count(); id-- > 1;) {
        if (used[id]) {
            used[trace_.stacks.stack(id).caller] = true;
        }
    }
    return used;
}

/// Copies the used entries to a new table, because entries of a table cannot be removed.
void Redactor::redact_stacks() {
    const StackTable& old = trace_.stacks;
    const std::vector<bool> used = used_stacks();
    StackTable table;
    std::unordered_map<FrameId, FrameId> frames;
    std::vector<StackId> moved(old.stack_count(), 0);
    for (StackId id = 1; id < old.stack_count(); ++id) {
        if (!used[id]) {
            continue;
        }
        const auto [frame, is_new] = frames.try_emplace(old.stack(id).frame, 0);
        if (is_new) {
            const Frame& from = old.frame(frame->first);
            const std::string& file = old.string(from.file);
            frame->second = table.intern(Frame{table.intern(function(old.string(from.function), file)),
                                               table.intern(this->file(file)), from.line});
        }
        moved[id] = table.intern(StackEntry{moved[old.stack(id).caller], frame->second});
    }
    for_each_stack([&](StackId& stack) { stack = moved[stack]; });
    trace_.stacks = std::move(table);
}

void Redactor::redact_origins() {
    std::vector<uint32_t> moved(trace_.origins.size(), 0);
    std::vector<Origin> kept(1);
    const auto move = [&](uint32_t& origin) {
        if (origin != 0 && moved[origin] == 0) {
            moved[origin] = static_cast<uint32_t>(kept.size());
            kept.push_back(trace_.origins[origin]);
        }
        origin = moved[origin];
    };
    for (DeviceHistory& device : trace_.devices) {
        std::for_each(device.allocations.origin.begin(), device.allocations.origin.end(), move);
        for (OtherEvent& other : device.others) {
            move(other.origin);
        }
    }
    if (graph_ != nullptr) {
        std::for_each(graph_->nodes.origin.begin(), graph_->nodes.origin.end(), move);
    }
    for (Origin& origin : kept) {
        origin.op = noted(RemovedKind::op, origin.op, rules_.op(origin.op));
        origin.module = noted(RemovedKind::module, origin.module, rules_.module(origin.module));
        origin.phase.text = noted(RemovedKind::mark, origin.phase.text, rules_.phase(origin.phase.text));
        origin.compile_context =
            noted(RemovedKind::free_text, origin.compile_context, rules_.compile_context(origin.compile_context));
        origin.user_metadata = free_text(origin.user_metadata);
    }
    trace_.origins = std::move(kept);
}

void Redactor::redact_spans() {
    for (Annotation& annotation : trace_.annotations) {
        annotation.name = noted(RemovedKind::mark, annotation.name, rules_.range(annotation));
        rules_.remove_unknown_word(annotation.kind);
    }
    for (Mark& mark : trace_.marks) {
        mark.name = noted(RemovedKind::mark, mark.name, rules_.mark(mark.name));
    }
    for (Step& step : trace_.steps) {
        rules_.remove_unknown_word(step.source);
    }
    for (Stream& stream : trace_.streams) {
        stream.name = noted(RemovedKind::mark, stream.name, rules_.stream(stream.name));
    }
}

void Redactor::log_source_lines() {
    int64_t lines = 0;
    std::string longest;
    for (const auto& [file, texts] : trace_.source_text.files()) {
        lines += static_cast<int64_t>(texts.size());
        for (const auto& [number, text] : texts) {
            longest = text.size() > longest.size() ? text : longest;
        }
    }
    if (lines > 0) {
        log_.add_all(RemovedKind::source_line, lines, longest);
    }
}

void Redactor::redact_source() {
    if (redaction_.replaces_texts()) {
        log_source_lines();
        trace_.source_text = {};
    }
    const std::string withheld = rules_.source(trace_.source);
    if (trace_.processes.empty()) {  // that of a recording only repeats the process ID, which stays
        log_.add(RemovedKind::free_text, trace_.source, withheld);
    }
    trace_.source = withheld;
    trace_.writer = rules_.free_text(trace_.writer);
    std::erase_if(trace_.settings, [&](const auto& setting) {
        const bool goes = !rules_.allows_setting(setting.first, setting.second);
        if (goes) {
            log_.add(RemovedKind::setting, setting.first + " = " + setting.second, {});
        }
        return goes;
    });
}

void Redactor::redact_data_gaps() {
    for (DataGap& data_gap : trace_.data_gaps) {
        data_gap.text = free_text(data_gap.text);
        rules_.remove_unknown_word(data_gap.reason);
        std::erase_if(data_gap.arguments,
                      [&](const auto& argument) { return !rules_.allows_argument(argument.first, argument.second); });
    }
}

void Redactor::redact_surroundings() {
    for (DeviceHistory& device : trace_.devices) {
        device.name = noted(RemovedKind::free_text, device.name, rules_.device(device.name));
        device.uuid.clear();  // the writer does not copy it
        for (OtherEvent& other : device.others) {
            other.name = noted(RemovedKind::free_text, other.name, rules_.action(other));
        }
    }
    for (Process& process : trace_.processes) {
        process.command_line =
            noted(RemovedKind::command_line, process.command_line, rules_.free_text(process.command_line));
        process.place.node = noted(RemovedKind::host, process.place.node, rules_.free_text(process.place.node));
        process.place.role = noted(RemovedKind::free_text, process.place.role, rules_.free_text(process.place.role));
        process.how_ended.text =
            noted(RemovedKind::free_text, process.how_ended.text, rules_.end_details(process.how_ended));
    }
    for (DriverAllocation& allocation : trace_.driver_allocations) {
        allocation.source = noted(RemovedKind::path, allocation.source, rules_.library(allocation.source));
        rules_.remove_unknown_word(allocation.kind);
    }
    for (Sample& sample : trace_.samples) {
        rules_.remove_unknown_word(sample.source);
    }
}

/// All other times count from the trace's start already. A process that started earlier would tell when.
void Redactor::redact_times() {
    if (trace_.start_utc_ns != 0) {
        log_.add_all(RemovedKind::time, 1, {});
    }
    trace_.start_utc_ns = 0;
    for (Process& process : trace_.processes) {
        process.start = 0;
        if (process.end) {
            process.end = std::clamp<int64_t>(*process.end, 0, trace_.duration);
        }
    }
}

/// Collects the new texts of a graph. One old text may be used in several roles, with different stand-ins.
class NewTexts {
public:
    uint32_t operator()(const std::string& text) {
        const auto [entry, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(texts.size()));
        if (is_new) {
            texts.push_back(text);
        }
        return entry->second;
    }
    std::vector<std::string> texts{""};

private:
    std::unordered_map<std::string, uint32_t> numbers_{{"", 0}};
};

void Redactor::redact_graph() {
    const std::vector<std::string> old = std::exchange(graph_->texts, {});
    NewTexts texts;
    for (uint32_t& name : graph_->saved.name) {
        name = texts(noted(RemovedKind::op, old[name], rules_.saved(old[name])));
    }
    for (NodeIndex n = 0; n < graph_->nodes.size(); ++n) {
        const std::string &type = old[graph_->nodes.type[n]], &variable = old[graph_->nodes.variable[n]];
        graph_->nodes.type[n] = texts(noted(RemovedKind::op, type, rules_.node(type)));
        graph_->nodes.variable[n] = texts(noted(RemovedKind::module, variable, rules_.parameter(variable)));
    }
    for (CategoryLabel& label : graph_->labels) {
        label.name = texts(noted(RemovedKind::module, old[label.name], rules_.parameter(old[label.name])));
    }
    for (Referrer& referrer : graph_->referrers) {
        for (PathLink& link : referrer.links) {
            const std::string& file = old[link.file];
            const std::string& name = old[link.name];
            link.name = texts(noted(RemovedKind::variable, name, rules_.variable(name, link.kind)));
            link.function = texts(function(old[link.function], file));
            link.file = texts(noted(RemovedKind::path, file, rules_.file_or_module(file)));
            rules_.remove_unknown_word(link.kind);
        }
    }
    for (HeapScan& scan : graph_->scans) {
        const std::string& text = scan.reason.text;
        scan.reason.text =
            scan.reason == ScanReason::mark ? noted(RemovedKind::mark, text, rules_.mark(text)) : free_text(text);
    }
    graph_->texts = std::move(texts.texts);
}

}  // namespace

Result<Redaction> redaction_from_names(std::string_view comma_separated) {
    Redaction redaction;
    while (!comma_separated.empty()) {
        const size_t comma = comma_separated.find(',');
        const std::string_view word = comma_separated.substr(0, comma);
        if (word == "paths") {
            redaction.paths = true;
        } else if (word == "source") {
            redaction.source = true;
        } else if (word == "names") {
            redaction.names = true;
        } else if (word == "times") {
            redaction.times = true;
        } else {
            return usage_error("\"{text}\" cannot be redacted; use paths, source, names, times.", with("text", word));
        }
        comma_separated.remove_prefix(comma == comma_separated.npos ? comma_separated.size() : comma + 1);
    }
    return redaction;
}

AllowedTexts redact(Trace& trace, const Redaction& redaction, GraphTables* graph, RedactionLog* log) {
    RedactionLog none;
    return Redactor(trace, redaction, graph, log != nullptr ? *log : none).run();
}

}  // namespace tidemark
