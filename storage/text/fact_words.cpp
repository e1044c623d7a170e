// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

/// Returns whether a backward after that time executes the node.
bool is_executed_after(const GraphIndex& index, NodeIndex node, int64_t time) {
    const int64_t executed = index.tables().nodes.executed[node];
    return executed > time && executed != never_happened;
}

}  // namespace

std::string component_name(const Words& words, ComponentKind kind) {
    switch (kind) {
        case ComponentKind::requested: return words("requested memory");
        case ComponentKind::rounding: return words("allocator rounding");
        case ComponentKind::pending: return words("pending free");
        case ComponentKind::free_in_segments: return words("free gaps");
        case ComponentKind::cached_segments: return words("cached segments");
        case ComponentKind::private_pools: return words("free in private pools");
        case ComponentKind::driver_pools: return words("free in pools of the driver");
        case ComponentKind::library: return words("libraries outside the caching allocator");
        case ComponentKind::context: return words("CUDA context");
        case ComponentKind::kernels: return words("loaded kernels");
        case ComponentKind::other_processes: return words("other processes on this GPU");
        case ComponentKind::unknown: return words("unexplained");
    }
    return {};
}

std::string component_name(const Words& words, const Component& component) {
    if (component.kind == ComponentKind::requested && component.name == driver_name) {
        return words("allocated from the driver");
    }
    if (component.kind == ComponentKind::library && !component.name.empty()) {
        return words("{library}, outside the caching allocator", with("library", component.name));
    }
    if (component.kind == ComponentKind::other_processes && component.pid != 0) {
        return words("process {pid}", with("pid", component.pid));
    }
    return component_name(words, component.kind);
}

std::string component_help(const Words& words, ComponentKind kind) {
    switch (kind) {
        case ComponentKind::requested:
            return words(
                "Bytes that the program requested and that are alive: tensors, arrays, buffers. Summary shows what "
                "retains "
                "them; only freeing or shrinking them makes this smaller.");
        case ComponentKind::rounding:
            return words(
                "Blocks are larger than what was requested: the allocator rounds sizes up, and a rest too small to "
                "split stays with its block. Many small or odd-sized tensors make it grow.");
        case ComponentKind::pending:
            return words(
                "The program has freed these blocks, but another CUDA stream may still use them. They become free "
                "when that stream gets there; record_stream() makes them wait.");
        case ComponentKind::free_in_segments:
            return words(
                "Free memory in segments that also hold blocks. The allocator reuses it for requests that fit; "
                "empty_cache() cannot release it. Expandable segments have fewer gaps.");
        case ComponentKind::cached_segments:
            return words(
                "Segments without any block, kept for later. torch.cuda.empty_cache() returns them to the driver.");
        case ComponentKind::private_pools:
            return words(
                "Free memory of private pools, such as those of CUDA graphs. Nothing else can use it until the graph "
                "is gone.");
        case ComponentKind::driver_pools:
            return words(
                "Memory in pools of the driver (cudaMallocAsync) that no allocation uses. cudaMemPoolTrimTo() returns "
                "it to the device.");
        case ComponentKind::library:
            return words(
                "Memory that a library took from the driver itself, outside PyTorch's caching allocator: workspaces "
                "of cuBLAS, buffers of NCCL and the like. Its own settings make it smaller.");
        case ComponentKind::context:
            return words(
                "What CUDA itself needs for a process to use the GPU. It stays as long as the process; fewer "
                "processes per GPU need fewer contexts.");
        case ComponentKind::kernels:
            return words(
                "Code of GPU kernels, loaded at their first use. It stays; with CUDA_MODULE_LOADING=LAZY unused "
                "kernels are not loaded.");
        case ComponentKind::other_processes:
            return words("Memory of another process on the same GPU. nvidia-smi lists the process.");
        case ComponentKind::unknown:
            return words(
                "What NVML shows beyond everything that is known: the driver's own memory, or what was not recorded.");
    }
    return {};
}

std::string category_name(const Words& words, Category category) {
    switch (category) {
        case Category::unknown: return words("memory of unknown role");
        case Category::parameter: return words("parameters");
        case Category::buffer: return words("buffers");
        case Category::gradient: return words("gradients");
        case Category::optimizer_state: return words("optimizer state");
        case Category::saved: return words("saved for backward");
        case Category::input: return words("inputs");
        case Category::output: return words("outputs");
        case Category::temporary: return words("temporaries");
        case Category::workspace: return words("workspaces");
        case Category::communication: return words("gradient buckets and collectives");
        case Category::unsharded: return words("unsharded parameters");
    }
    return {};
}

std::string group_words(const Words& words, GroupBy by, const std::string& name) {
    if (name == "no graph recorded") {
        return words("no graph recorded");
    }
    switch (by) {
        case GroupBy::category: return category_name(words, category_from_name(name));
        case GroupBy::stack:
        case GroupBy::line:
        case GroupBy::file:
            return name == "no Python frame" ? words("no Python frame")
                   : name == "no site: only frames of the allocator and the interpreter"
                       ? words("no site: only frames of the allocator and the interpreter")
                   : name == "no Python file: C++ code" ? words("no Python file: C++ code")
                                                        : name;
        case GroupBy::stream: return name == "unknown stream" ? words("unknown stream") : name;
        case GroupBy::pool:
            return name == "unknown pool"   ? words("unknown pool")
                   : name == "default pool" ? words("default pool")
                                            : name;
        case GroupBy::annotation:
            return name == "outside annotations" ? words("outside annotations")
                   : name == "before the trace"  ? words("before the trace")
                                                 : name;
        case GroupBy::module: return name == "no module" ? words("no module") : name;
        case GroupBy::op: return name == "no operator" ? words("no operator") : name;
        case GroupBy::phase: return name == "no phase" ? words("no phase") : name;
        case GroupBy::node: return name == "no node" ? words("no node") : name;
        case GroupBy::step:
        case GroupBy::graph_step:
            return name == "outside steps"      ? words("outside steps")
                   : name == "before the trace" ? words("before the trace")
                   : name == "no node"          ? words("no node")
                                                : name;
        case GroupBy::size: return name;
    }
    return name;
}

std::string node_state_name(const Words& words, NodeState state) {
    switch (state) {
        case NodeState::not_created: return words("not created yet");
        case NodeState::never_executed: return words("not backpropagated");
        case NodeState::executed: return words("executed, saved tensors retained (retain_graph)");
        case NodeState::released: return words("released");
        case NodeState::destroyed: return words("destroyed");
    }
    return {};
}

std::string node_state_name(const Words& words, const GraphIndex& index, NodeIndex node, int64_t time) {
    const NodeState state = index.state(node, time);
    return state != NodeState::never_executed     ? node_state_name(words, state)
           : is_executed_after(index, node, time) ? words("not backpropagated yet")
                                                  : words("never backpropagated");
}

std::string node_state_sentence(const Words& words, const GraphIndex& index, NodeIndex node, int64_t time) {
    switch (index.state(node, time)) {
        case NodeState::not_created: return words("The node does not exist yet at this time.");
        case NodeState::never_executed:
            return is_executed_after(index, node, time) ? words("The node is not backpropagated yet.")
                                                        : words("The node was never backpropagated.");
        case NodeState::executed:
            return words("Backward has executed the node and retained its saved tensors (retain_graph=True).");
        case NodeState::released:
            return words(
                "Backward has executed the node and released its saved tensors: a second backward through it raises "
                "an error if it had saved any.");
        case NodeState::destroyed: return words("The node is destroyed at this time.");
    }
    return {};
}

std::string event_words(const Words& words, const DeviceHistory& device, EventNumber event) {
    const EventRef ref = device.event_ref[static_cast<size_t>(event)];
    const auto bytes = [](uint64_t size) { return with("bytes", format_bytes(static_cast<int64_t>(size))); };
    const auto block = [&] { return bytes(device.allocations.block_size[ref.index()]); };
    const auto segment = [&] { return bytes(device.segments[ref.index()].size); };
    switch (ref.action()) {
        case Action::alloc: return words("allocation of {bytes}", block());
        case Action::free_requested: return words("free of {bytes}", block());
        case Action::free_completed: return words("completed the free of {bytes}", block());
        case Action::segment_alloc: return words("reserved a segment of {bytes}", segment());
        case Action::segment_free: return words("released a segment of {bytes}", segment());
        case Action::segment_map: return words("expanded a segment by {bytes}", segment());
        case Action::segment_unmap: return words("shrank a segment by {bytes}", segment());
        case Action::snapshot:
        case Action::oom:
        case Action::unknown: break;
    }
    const OtherEvent& other = device.others[ref.index()];
    if (other.action == Action::oom) {
        return words("out of memory: {requested} requested, {free} free on the device",
                     with("requested", format_bytes(static_cast<int64_t>(other.size))),
                     with("free", format_bytes(static_cast<int64_t>(other.address))));
    }
    return other.action == Action::snapshot ? words("took a snapshot") : other.name;
}

std::string source_words(const Words& words, const Trace& trace) {
    return trace.processes.empty() ? trace.source
                                   : words("recording of process {pid}", with("pid", trace.processes.front().pid));
}

std::string process_end_name(const Words& words, const Fact<ProcessEnd>& end) {
    switch (end) {
        case ProcessEnd::not_recorded: return {};
        case ProcessEnd::stopped: return words("recording stopped");
        case ProcessEnd::exited: return words("exited");
        case ProcessEnd::exception:
            return end.text.empty() ? words("exception") : words("exception: {exception}", with("exception", end.text));
        case ProcessEnd::interrupted: return words("interrupted");
        case ProcessEnd::killed: return words("killed by signal {signal}", with("signal", end.text));
        case ProcessEnd::silent: return words("exit status not recorded");
        case ProcessEnd::unknown: return end.text;
    }
    return {};
}

std::string process_end_words(const Words& words, const Process& process) {
    const std::string& text = process.how_ended.text;
    switch (process.how_ended) {
        case ProcessEnd::not_recorded: return {};
        case ProcessEnd::stopped: return words("The recording was stopped; the program went on.");
        case ProcessEnd::exited: {
            const std::string status = process.exit_status ? fmt::to_string(*process.exit_status) : text;
            return status.empty() || status == "0"
                       ? words("The program exited.")
                       : words("The program exited with status {status}.", with("status", status));
        }
        case ProcessEnd::exception:
            return text.empty() ? words("The program ended with an exception.")
                                : words("The program ended with an exception: {exception}", with("exception", text));
        case ProcessEnd::interrupted: return words("The program was interrupted.");
        case ProcessEnd::killed: return words("The program was killed by signal {signal}.", with("signal", text));
        case ProcessEnd::silent: return words("The program ended; its exit status was not recorded.");
        case ProcessEnd::unknown: return text;
    }
    return {};
}

std::string scan_reason_words(const Words& words, const Fact<ScanReason>& reason) {
    switch (reason) {
        case ScanReason::end: return words("end");
        case ScanReason::out_of_memory: return words("out of memory");
        case ScanReason::mark: return words("mark `{mark}`", with("mark", reason.text));
        case ScanReason::memory_grows: return words("memory grows");
        case ScanReason::growing_sites: return words("allocation sites grow");
        case ScanReason::asked: return words("on request");
        case ScanReason::unknown: return reason.text;
    }
    return {};
}

std::string integrity_words(const Words& words, Integrity integrity) {
    switch (integrity) {
        case Integrity::no_checksums: return words("not checked: this trace format has no checksums");
        case Integrity::unfinished: return words("not checked: the trace was not finished");
        case Integrity::not_checked: return words("not checked: the file is larger than 4 GiB (tidemark info --check)");
        case Integrity::intact: return words("every byte is as it was written");
        case Integrity::changed: return words("changed since it was written");
    }
    return {};
}

}  // namespace tidemark
