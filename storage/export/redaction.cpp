// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/redaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

using namespace std::string_view_literals;

/// Assigns "file1.py", "file2.py", ... to texts; equal texts get the same stand-in.
class StandIns {
public:
    /// `taken`: texts of the trace. A stand-in never equals one of them.
    StandIns(std::string kind, const std::unordered_set<std::string>& taken) : kind_(std::move(kind)), taken_(taken) {}

    std::string operator()(const std::string& text, std::string_view ending = {}) {
        auto& stand_in = stand_ins_[text];
        while (stand_in.empty() || taken_.contains(stand_in)) {
            stand_in = fmt::format("{}{}{}", kind_, ++count_, ending);
        }
        return stand_in;
    }

private:
    std::string kind_;
    const std::unordered_set<std::string>& taken_;
    std::unordered_map<std::string, std::string> stand_ins_;
    int count_ = 0;
};

std::string_view ending_of(std::string_view path) {
    constexpr std::array known{".py"sv, ".pyx"sv, ".ipynb"sv, ".so"sv, ".cpp"sv, ".cc"sv, ".cu"sv, ".h"sv};
    const size_t dot = path.rfind('.');
    const std::string_view ending = dot == path.npos ? ""sv : path.substr(dot);
    return std::find(known.begin(), known.end(), ending) == known.end() ? ""sv : ending;
}

/// Returns the part of a library's path that is the same on every machine; empty if there is none.
std::string_view public_part(std::string_view path) {
    for (const std::string_view mark :
         {"site-packages/"sv, "dist-packages/"sv, "site-packages\\"sv, "/lib/python3."sv}) {
        if (const size_t at = path.rfind(mark); at != path.npos) {
            return path.substr(at);
        }
    }
    for (const std::string_view pseudo : {"<frozen "sv, "<string>"sv, "<stdin>"sv, "<eval_with_key>"sv}) {
        if (path.starts_with(pseudo)) {
            return path;
        }
    }
    for (const std::string_view folder :
         {"/usr/lib/"sv, "/lib/"sv, "/lib64/"sv, "torch/csrc/"sv, "aten/src/"sv, "c10/"sv}) {
        if (path.starts_with(folder)) {
            return path;
        }
    }
    return path == "??" ? path : ""sv;
}

/// Returns whether Python, not the user, chose the name: "<module>", "<lambda>", "__init__".
bool is_pythons_own_name(std::string_view name) {
    return name.empty() || name == "??" || (name.starts_with('<') && name.ends_with('>')) ||
           (name.size() > 4 && name.starts_with("__") && name.ends_with("__"));
}

bool ends_a_path(char c) { return " \t\n\"'`,;()[]{}|<>="sv.find(c) != std::string_view::npos; }

bool starts_a_path(std::string_view text, size_t at) {
    const bool at_word_start = at == 0 || ends_a_path(text[at - 1]) || text[at - 1] == ':';
    const std::string_view rest = text.substr(at);
    const bool is_drive = rest.size() > 3 && rest[1] == ':' && rest[2] == '\\';
    return at_word_start && rest.size() > 1 && (rest[0] == '/' || rest.starts_with("~/") || is_drive);
}

class Redactor {
public:
    Redactor(Trace& trace, const Redaction& redaction, GraphTables* graph);
    void run();

private:
    void redact_stacks();
    void redact_origins();
    void redact_spans();
    void redact_source();
    void redact_surroundings();
    void redact_graph();
    void redact_scans();
    std::string node_type(const std::string& type);

    std::string file(const std::string& path);
    std::string function(const std::string& name);
    /// Replaces paths and file names inside other text.
    std::string free_text(const std::string& text);
    std::string without_paths(std::string_view text);
    void collect_files(const std::vector<bool>& used_stacks);
    std::string name(const std::string& text, StandIns& stand_ins);

    std::vector<bool> used_stacks();
    template <class Visit>
    void for_each_stack(Visit&& visit);

    Trace& trace_;
    GraphTables* graph_;  ///< nullptr: no graph
    Redaction redaction_;
    std::vector<std::pair<std::string, std::string>> known_files_;  ///< pairs of file and stand-in
    std::unordered_set<std::string> taken_;
    StandIns files_{"file", taken_}, functions_{"function", taken_}, ranges_{"range", taken_}, marks_{"mark", taken_},
        modules_{"module", taken_}, ops_{"op", taken_}, contexts_{"context", taken_}, streams_{"stream", taken_},
        libraries_{"library", taken_}, phases_{"phase", taken_}, nodes_{"node", taken_},
        parameters_{"parameter", taken_}, saved_{"saved", taken_}, variables_{"variable", taken_};
};

Redactor::Redactor(Trace& trace, const Redaction& redaction, GraphTables* graph)
    : trace_(trace), graph_(graph), redaction_(redaction) {
    for (StringId id = 0; id < trace.stacks.string_count(); ++id) {
        taken_.insert(trace.stacks.string(id));
    }
    for (const Annotation& annotation : trace.annotations) {
        taken_.insert(annotation.name);
    }
    for (const Mark& mark : trace.marks) {
        taken_.insert(mark.name);
    }
    if (graph != nullptr) {
        taken_.insert(graph->texts.begin(), graph->texts.end());
    }
}

void Redactor::run() {
    redact_stacks();
    redact_origins();
    redact_spans();
    redact_source();
    redact_surroundings();
    if (graph_ != nullptr) {
        redact_graph();
        redact_scans();
    }
}

std::string Redactor::file(const std::string& path) {
    if (!redaction_.paths || path.empty()) {
        return path;
    }
    const std::string_view kept = public_part(path);
    return kept.empty() ? files_(path, ending_of(path)) : std::string(kept);
}

std::string Redactor::function(const std::string& name) {
    return redaction_.names && !is_pythons_own_name(name) ? functions_(name) : free_text(name);
}

/// Collects all files of the user, by full path and by name, longest first.
void Redactor::collect_files(const std::vector<bool>& used_stacks) {
    const StackTable& table = trace_.stacks;
    std::map<std::string, std::string> known;
    for (StackId id = 1; id < table.stack_count(); ++id) {
        const std::string& path = table.string(table.frame(table.stack(id).frame).file);
        if (used_stacks[id] && public_part(path).empty() && path.size() >= 4) {
            const std::string stand_in = file(path);
            known.emplace(path, stand_in);
            known.emplace(path.substr(path.find_last_of("/\\") + 1), stand_in);
        }
    }
    known_files_.assign(known.begin(), known.end());
    std::erase_if(known_files_, [](const auto& entry) { return entry.first.size() < 4; });
    std::stable_sort(known_files_.begin(), known_files_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Redactor::without_paths(std::string_view text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        if (!starts_a_path(text, at)) {
            result += text[at++];
            continue;
        }
        size_t end = at;
        while (end < text.size() && !ends_a_path(text[end])) {
            ++end;
        }
        result += file(std::string(text.substr(at, end - at)));
        at = end;
    }
    return result;
}

std::string Redactor::free_text(const std::string& text) {
    if (!redaction_.paths || text.find_first_of("/\\.") == text.npos) {
        return text;
    }
    std::string result = text;
    for (const auto& [path, stand_in] : known_files_) {
        for (size_t at = result.find(path); at != result.npos; at = result.find(path, at + stand_in.size())) {
            result.replace(at, path.size(), stand_in);
        }
    }
    return without_paths(result);
}

std::string Redactor::name(const std::string& text, StandIns& stand_ins) {
    return redaction_.names && !text.empty() ? stand_ins(text) : free_text(text);
}

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
    if (redaction_.paths) {
        collect_files(used);
    }
    StackTable table;
    std::vector<StackId> moved(old.stack_count(), 0);
    for (StackId id = 1; id < old.stack_count(); ++id) {
        if (used[id]) {
            const Frame& frame = old.frame(old.stack(id).frame);
            const Frame renamed{table.intern(function(old.string(frame.function))),
                                table.intern(file(old.string(frame.file))), frame.line};
            moved[id] = table.intern(StackEntry{moved[old.stack(id).caller], table.intern(renamed)});
        }
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
    }
    if (graph_ != nullptr) {
        std::for_each(graph_->nodes.origin.begin(), graph_->nodes.origin.end(), move);
    }
    for (Origin& origin : kept) {
        origin.op = origin.op.starts_with("aten::") ? origin.op : name(origin.op, ops_);
        origin.module = name(origin.module, modules_);
        origin.phase.text = name(origin.phase.text, phases_);
        origin.compile_context = name(origin.compile_context, contexts_);
        origin.user_metadata = redaction_.source ? "" : free_text(origin.user_metadata);
    }
    trace_.origins = std::move(kept);
}

void Redactor::redact_spans() {
    for (Annotation& annotation : trace_.annotations) {
        annotation.name = name(annotation.name, ranges_);
    }
    for (Mark& mark : trace_.marks) {
        mark.name = name(mark.name, marks_);
    }
    for (Stream& stream : trace_.streams) {
        stream.name = name(stream.name, streams_);
    }
}

/// Returns whether PyTorch defines the setting in all supported versions; other names may be the user's own text.
bool is_pytorch_setting(std::string_view name) {
    constexpr std::array known{"max_split_size"sv,
                               "garbage_collection_threshold"sv,
                               "expandable_segments"sv,
                               "pinned_num_register_threads"sv,
                               "release_lock_on_cudamalloc"sv,
                               "pinned_use_cuda_host_register"sv,
                               "graph_capture_record_stream_reuse"sv,
                               "roundup_power2_divisions"sv,
                               "PYTORCH_CUDA_ALLOC_CONF"sv};
    return std::find(known.begin(), known.end(), name) != known.end();
}

void Redactor::redact_source() {
    trace_.source = redaction_.source ? "withheld by the person who shared this trace" : free_text(trace_.source);
    if (redaction_.source) {
        std::erase_if(trace_.settings, [](const auto& setting) { return !is_pytorch_setting(setting.first); });
    }
    for (auto& [key, value] : trace_.settings) {
        value = free_text(value);
    }
    for (DataGap& data_gap : trace_.data_gaps) {
        data_gap.text = free_text(data_gap.text);
        for (auto& [name, value] : data_gap.arguments) {
            value = free_text(value);
        }
    }
}

/// Returns whether the library belongs to NVIDIA or PyTorch; these names reveal nothing about the user.
bool is_known_library(std::string_view name) {
    constexpr std::array known{"libcu"sv, "libnccl"sv, "libnv"sv, "libtorch"sv, "libc10"sv};
    return std::any_of(known.begin(), known.end(), [&](auto start) { return name.starts_with(start); });
}

void Redactor::redact_surroundings() {
    for (Process& process : trace_.processes) {
        process.command_line = redaction_.source ? "" : free_text(process.command_line);
        const bool has_details = process.how_ended == ProcessEnd::exception || process.how_ended == ProcessEnd::unknown;
        std::string& details = process.how_ended.text;
        details = redaction_.source && has_details ? "" : free_text(details);
    }
    for (DriverAllocation& allocation : trace_.driver_allocations) {
        const std::string name = allocation.source.substr(allocation.source.find_last_of("/\\") + 1);
        if (redaction_.paths && !name.empty()) {
            allocation.source = is_known_library(name) ? name : libraries_(allocation.source, ending_of(name));
        }
    }
}

/// Returns whether the node belongs to one of PyTorch's own functions: "MmBackward0", "AccumulateGrad". The name of a
/// user's function has no number.
bool is_pytorchs_node(std::string_view type) {
    constexpr std::array known{"AccumulateGrad"sv, "CopySlices"sv,     "CopyBackwards"sv, "UndefinedGrad"sv,
                               "GraphRoot"sv,      "NotImplemented"sv, "Error"sv,         "DelayedError"sv};
    constexpr std::string_view space = "torch::autograd::";
    type.remove_prefix(type.starts_with(space) ? space.size() : 0);
    const size_t last_letter = type.find_last_not_of("0123456789");
    const bool is_generated = last_letter != type.npos && last_letter + 1 < type.size() &&
                              type.substr(0, last_letter + 1).ends_with("Backward");
    return is_generated || std::find(known.begin(), known.end(), type) != known.end();
}

std::string Redactor::node_type(const std::string& type) { return is_pytorchs_node(type) ? type : name(type, nodes_); }

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
    GraphNodes& nodes = graph_->nodes;
    for (NodeIndex n = 0; n < nodes.size(); ++n) {
        const std::string& type = old[nodes.type[n]];
        const bool is_own = is_pytorchs_node(type);
        for (uint32_t s = graph_->saved.first[n]; s < graph_->saved.first[n + 1]; ++s) {
            uint32_t& saved = graph_->saved.name[s];
            saved = texts(is_own ? old[saved] : name(old[saved], saved_));
        }
        nodes.type[n] = texts(node_type(type));
        nodes.variable[n] = texts(name(old[nodes.variable[n]], parameters_));
    }
    for (CategoryLabel& label : graph_->labels) {
        label.name = texts(name(old[label.name], parameters_));
    }
    for (Referrer& referrer : graph_->referrers) {
        for (PathLink& link : referrer.links) {
            link.name = texts(link.kind == PathLinkKind::index ? old[link.name] : name(old[link.name], variables_));
            link.function = texts(function(old[link.function]));
            link.file = texts(file(old[link.file]));
        }
    }
    graph_->texts = std::move(texts.texts);
}

void Redactor::redact_scans() {
    for (HeapScan& scan : graph_->scans) {
        std::string& text = scan.reason.text;
        text = scan.reason == ScanReason::mark ? name(text, marks_) : free_text(text);
    }
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
        } else {
            return usage_error("\"{text}\" cannot be redacted; use paths, source, names.", with("text", word));
        }
        comma_separated.remove_prefix(comma == comma_separated.npos ? comma_separated.size() : comma + 1);
    }
    return redaction;
}

void redact(Trace& trace, const Redaction& redaction, GraphTables* graph) { Redactor(trace, redaction, graph).run(); }

}  // namespace tidemark
