// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "synthetic_graph.h"

#include <unordered_map>

namespace tidemark::gui::test {

namespace {

constexpr uint64_t mebibyte = 1 << 20;

struct Saves {
    const char* name;
    AllocationIndex allocation;
};

/// Writes a program's memory and graph in the order of their creation; every event takes a microsecond.
class Program {
public:
    Program() {
        trace_.path = "synthetic.tide";
        trace_.streams.push_back({0, ""});
        trace_.pools.push_back({});
        trace_.origins.emplace_back();
        device_.device = 0;
    }

    int64_t now() const { return static_cast<int64_t>(device_.event_time.size()) * 1000; }

    AllocationIndex allocate(uint64_t bytes) {
        device_.allocations.push_back(
            {device_.event_count(), never, never, next_address_, bytes, bytes, stack_, 0, 0, origin_});
        next_address_ += bytes;
        event(Action::alloc, device_.allocations.size() - 1);
        return device_.allocations.size() - 1;
    }

    void release(AllocationIndex a) {
        device_.allocations.free_event[a] = device_.event_count();
        event(Action::free_requested, a);
        device_.allocations.free_completed[a] = device_.event_count();
        event(Action::free_completed, a);
    }

    void at(const std::string& module, int line) {
        const auto [origin, is_new] = origins_.try_emplace(module, static_cast<uint32_t>(trace_.origins.size()));
        if (is_new) {
            trace_.origins.push_back({"", module, Phase::forward, "", "", 1});
        }
        origin_ = module.empty() ? 0 : origin->second;
        StackTable& stacks = trace_.stacks;
        const FrameId frame = stacks.intern(Frame{stacks.intern("main"), stacks.intern("/home/anna/s01.py"), line});
        stack_ = stacks.intern(StackEntry{0, frame});
    }

    NodeIndex parameter(const std::string& name, uint64_t bytes) {
        const NodeIndex node = this->node("AccumulateGrad", {}, {}, allocate(bytes));
        tables_.nodes.variable[node] = text(name);
        tables_.nodes.stack[node] = 0;
        tables_.nodes.origin[node] = 0;
        label(tables_.nodes.output[node], Category::parameter, name);
        return node;
    }

    NodeIndex node(const char* type, std::initializer_list<NodeIndex> to, std::initializer_list<Saves> saves,
                   AllocationIndex output) {
        GraphNodes& nodes = tables_.nodes;
        nodes.id.push_back(static_cast<int64_t>(nodes.id.size()) + 1);
        nodes.type.push_back(text(type));
        nodes.variable.push_back(0);
        nodes.sequence.push_back(static_cast<int64_t>(nodes.id.size()));
        nodes.origin.push_back(origin_);
        nodes.stack.push_back(stack_);
        nodes.created.push_back(now());
        for (auto* never_yet : {&nodes.executed, &nodes.released, &nodes.destroyed}) {
            never_yet->push_back(never_happened);
        }
        nodes.output.push_back({0, output});
        for (const NodeIndex child : to) {
            tables_.edges.to.push_back(child);
            tables_.edges.slot.push_back(0);
            tables_.edges.input.push_back(0);
        }
        tables_.edges.first.push_back(static_cast<uint32_t>(tables_.edges.to.size()));
        SavedTensors& saved = tables_.saved;
        for (const Saves& one : saves) {
            saved.name.push_back(text(one.name));
            saved.allocation.push_back({0, one.allocation});
            saved.offset.push_back(0);
            saved.bytes.push_back(one.allocation == no_allocation ? 0 : device_.allocations.block_size[one.allocation]);
            saved.version.push_back(0);
            saved.is_view.push_back(0);
            saved.is_packed.push_back(one.allocation == no_allocation);
        }
        saved.first.push_back(static_cast<uint32_t>(saved.name.size()));
        return static_cast<NodeIndex>(nodes.id.size() - 1);
    }

    /// A backward over nodes [from, to), which is destroyed with them.
    void finish(NodeIndex from, NodeIndex to) {
        GraphNodes& nodes = tables_.nodes;
        for (NodeIndex node = from; node < to; ++node) {
            if (nodes.variable[node] == 0) {
                nodes.executed[node] = nodes.released[node] = nodes.destroyed[node] = now();
                if (nodes.output[node]) {
                    release(nodes.output[node].index);
                }
            }
        }
    }

    void begin_step() {
        end_step();
        trace_.steps.push_back({static_cast<int64_t>(trace_.steps.size()), StepSource::user, now(), std::nullopt});
    }
    void end_step() {
        if (!trace_.steps.empty()) {
            trace_.steps.back().end = now();
        }
    }

    void retention(NodeIndex root, int element) {
        Referrer referrer;
        referrer.node = root;
        referrer.allocation = tables_.nodes.output[root];
        referrer.links.push_back({PathLinkKind::local, text("outputs"), text("main"), text("/home/anna/s01.py"), 31});
        referrer.links.push_back({PathLinkKind::index, text(std::to_string(element)), 0, 0, 0});
        tables_.referrers.push_back(referrer);
    }
    void scan_heap() { tables_.scans.push_back({now(), ScanReason::end, 1000, 5000, 300}); }

    NodeIndex size() const { return tables_.nodes.size(); }

    SyntheticGraph end() {
        end_step();
        Segment segment;
        segment.address = first_address;
        segment.size = next_address_ - first_address;
        segment.is_large = true;
        device_.segments.push_back(segment);
        trace_.duration = now();
        trace_.devices.push_back(std::move(device_));
        const auto trace = std::make_shared<const Trace>(std::move(trace_));
        return {trace, std::make_shared<const Graph>(trace, std::make_shared<const GraphTables>(std::move(tables_)))};
    }

private:
    static constexpr uint64_t first_address = 0x7f0000000000;

    void event(Action action, uint32_t index) {
        device_.event_time.push_back(now());
        device_.event_ref.emplace_back(action, index);
    }
    uint32_t text(const std::string& words) {
        const auto [entry, is_new] = texts_.try_emplace(words, static_cast<uint32_t>(tables_.texts.size()));
        if (is_new) {
            tables_.texts.push_back(words);
        }
        return entry->second;
    }
    void label(AllocationRef memory, Category category, const std::string& name) {
        tables_.labels.push_back({memory, now(), category, text(name)});
    }

    Trace trace_;
    DeviceHistory device_;
    GraphTables tables_;
    uint64_t next_address_ = first_address;
    uint32_t origin_ = 0;
    StackId stack_ = 0;
    std::unordered_map<std::string, uint32_t> texts_{{"", 0}}, origins_;
};

struct Linear {
    NodeIndex weight, bias;
};

Linear make_linear(Program& p, const std::string& name, uint64_t bytes) {
    return {p.parameter(name + ".weight", bytes), p.parameter(name + ".bias", bytes / 64)};
}

/// The result of an operator: its node, and the memory of its output.
struct Value {
    NodeIndex node;
    AllocationIndex memory;
};

Value op(Program& p, const char* type, std::initializer_list<NodeIndex> to, std::initializer_list<Saves> saves,
         uint64_t bytes) {
    const AllocationIndex output = p.allocate(bytes);
    return {p.node(type, to, saves, output), output};
}

/// A node that saves its own result.
Value op_of_result(Program& p, const char* type, NodeIndex to, uint64_t bytes) {
    const AllocationIndex output = p.allocate(bytes);
    return {p.node(type, {to}, {{"result", output}}, output), output};
}

/// An op without memory of its own.
Value view(Program& p, const char* type, const Value& of) {
    return {p.node(type, {of.node}, {}, no_allocation), of.memory};
}

Value linear(Program& p, const std::string& module, const Linear& with, const Value& in, uint64_t bytes) {
    p.at(module, 116);
    const NodeIndex turned = p.node("TBackward0", {with.weight}, {}, no_allocation);
    const Value flat = view(p, "ViewBackward0", in);
    const Value out = op(p, "AddmmBackward0", {with.bias, flat.node, turned}, {{"mat1", in.memory}}, bytes);
    return view(p, "ViewBackward0", out);
}

struct Block {
    Linear ln_1, c_attn, attn_proj, ln_2, c_fc, mlp_proj;
};

Block make_block(Program& p, const std::string& name) {
    return {make_linear(p, name + ".ln_1", 4096),
            make_linear(p, name + ".attn.c_attn", 7 * mebibyte),
            make_linear(p, name + ".attn.c_proj", 2 * mebibyte),
            make_linear(p, name + ".ln_2", 4096),
            make_linear(p, name + ".mlp.c_fc", 9 * mebibyte),
            make_linear(p, name + ".mlp.c_proj", 9 * mebibyte)};
}

Value norm(Program& p, const std::string& module, const Linear& with, const Value& in) {
    p.at(module, 217);
    const AllocationIndex statistics = p.allocate(16384);
    return op(p, "NativeLayerNormBackward0", {in.node, with.weight, with.bias},
              {{"input", in.memory}, {"result1", statistics}}, 3 * mebibyte);
}

Value attention(Program& p, const std::string& module, const Block& block, const Value& in) {
    const Value qkv = linear(p, module + ".c_attn", block.c_attn, in, 9 * mebibyte);
    p.at(module, 58);
    const Value split = view(p, "SplitBackward0", qkv);
    Value parts[3];
    for (Value& part : parts) {
        part = view(p, "TransposeBackward0", view(p, "ViewBackward0", split));
    }
    const AllocationIndex sums = p.allocate(65536);
    const Value mixed =
        op(p, "ScaledDotProductFlashAttentionBackward0", {parts[0].node, parts[1].node, parts[2].node},
           {{"query", qkv.memory}, {"key", qkv.memory}, {"value", qkv.memory}, {"logsumexp", sums}}, 3 * mebibyte);
    const Value merged = view(p, "ViewBackward0", view(p, "CloneBackward0", view(p, "TransposeBackward0", mixed)));
    const Value projected = linear(p, module + ".c_proj", block.attn_proj, merged, 3 * mebibyte);
    p.at(module + ".resid_dropout", 73);
    return op(p, "NativeDropoutBackward0", {projected.node}, {{"result1", p.allocate(mebibyte)}}, 3 * mebibyte);
}

Value mlp(Program& p, const std::string& module, const Block& block, const Value& in) {
    const Value wide = linear(p, module + ".c_fc", block.c_fc, in, 12 * mebibyte);
    p.at(module + ".gelu", 89);
    const Value bent = op(p, "GeluBackward0", {wide.node}, {{"self", wide.memory}}, 12 * mebibyte);
    const Value narrow = linear(p, module + ".c_proj", block.mlp_proj, bent, 3 * mebibyte);
    p.at(module + ".dropout", 92);
    return op(p, "NativeDropoutBackward0", {narrow.node}, {{"result1", p.allocate(mebibyte)}}, 3 * mebibyte);
}

Value forward(Program& p, const std::vector<Block>& blocks, NodeIndex wte, NodeIndex wpe, const Linear& ln_f) {
    p.at("GPT.transformer.wte", 190);
    const AllocationIndex ids = p.allocate(65536);
    const Value tokens = op(p, "EmbeddingBackward0", {wte}, {{"indices", ids}}, 3 * mebibyte);
    p.at("GPT.transformer.wpe", 190);
    const Value places = op(p, "EmbeddingBackward0", {wpe}, {{"indices", ids}}, 3 * mebibyte);
    p.at("GPT", 177);
    Value x = op(p, "AddBackward0", {tokens.node, places.node}, {}, 3 * mebibyte);
    for (size_t l = 0; l < blocks.size(); ++l) {
        const std::string module = "GPT.transformer.h." + std::to_string(l);
        const Value attended = attention(p, module + ".attn", blocks[l], norm(p, module + ".ln_1", blocks[l].ln_1, x));
        p.at(module, 104);
        x = op(p, "AddBackward0", {x.node, attended.node}, {}, 3 * mebibyte);
        const Value changed = mlp(p, module + ".mlp", blocks[l], norm(p, module + ".ln_2", blocks[l].ln_2, x));
        p.at(module, 105);
        x = op(p, "AddBackward0", {x.node, changed.node}, {}, 3 * mebibyte);
    }
    x = norm(p, "GPT.transformer.ln_f", ln_f, x);
    p.at("GPT.lm_head", 184);
    const NodeIndex turned = p.node("TBackward0", {wte}, {}, no_allocation);
    const Value logits = op(p, "MmBackward0", {x.node, turned}, {{"self", x.memory}}, 200 * mebibyte);
    p.at("GPT", 187);
    const Value chances = op_of_result(p, "LogSoftmaxBackward0", view(p, "ViewBackward0", logits).node, 200 * mebibyte);
    return op(p, "NllLossBackward0", {chances.node}, {{"self", chances.memory}}, 512);
}

}  // namespace

std::shared_ptr<Session> SyntheticGraph::session() const {
    auto session = std::make_shared<Session>(trace, Session::analyze(trace));
    session->graph_source().set(graph);
    session->selection().set_time_point(session->device().event_count());
    return session;
}

SyntheticGraph transformer_graph(int layers, int steps) {
    Program p;
    p.at("", 10);
    const NodeIndex wte = p.parameter("transformer.wte.weight", 147 * mebibyte),
                    wpe = p.parameter("transformer.wpe.weight", 3 * mebibyte);
    std::vector<Block> blocks;
    for (int l = 0; l < layers; ++l) {
        blocks.push_back(make_block(p, "transformer.h." + std::to_string(l)));
    }
    const Linear ln_f = make_linear(p, "transformer.ln_f", 4096);
    for (int step = 0; step < steps; ++step) {
        p.begin_step();
        const NodeIndex first = p.size();
        forward(p, blocks, wte, wpe, ln_f);
        if (step + 1 < steps) {
            p.finish(first, p.size());
        }
    }
    return p.end();
}

SyntheticGraph retained_outputs_graph(int count) {
    Program p;
    p.at("", 12);
    const Linear first = make_linear(p, "fc1", 65536), second = make_linear(p, "fc2", 65536);
    for (int i = 0; i < count; ++i) {
        p.begin_step();
        p.at("", 29);
        const AllocationIndex input = p.allocate(4096);
        const AllocationIndex hidden = p.allocate(4096);
        const NodeIndex one = p.node("AddmmBackward0", {first.bias, first.weight}, {{"mat1", input}}, hidden);
        p.at("", 30);
        const Value bent = op_of_result(p, "ReluBackward0", one, 4096);
        const Value two =
            op(p, "AddmmBackward0", {second.bias, bent.node, second.weight}, {{"mat1", bent.memory}}, 4096);
        p.at("", 33);
        const Value squared = op(p, "PowBackward0", {two.node}, {{"self", two.memory}}, 4096);
        const Value sum = op(p, "SumBackward0", {squared.node}, {}, 512);
        p.release(hidden);
        p.retention(sum.node, i);
    }
    p.scan_heap();
    return p.end();
}

SyntheticGraph chain_graph(int count) {
    Program p;
    p.at("", 1);
    NodeIndex below = p.parameter("weight", 4096);
    for (int i = 0; i < count; ++i) {
        p.at("", 10 + (i * 7919) % 1000);
        below = op(p, i % 3 ? "MulBackward0" : "AddBackward0", {below}, {}, 512).node;
    }
    return p.end();
}

SyntheticGraph finished_graph() {
    Program p;
    p.at("", 5);
    const NodeIndex weight = p.parameter("weight", 4096);
    const AllocationIndex input = p.allocate(mebibyte);
    const NodeIndex first = p.size();
    const Value product = op(p, "MulBackward0", {weight}, {{"self", input}}, mebibyte);
    op(p, "SumBackward0", {product.node}, {}, 512);
    p.finish(first, p.size());
    p.release(input);
    SyntheticGraph made = p.end();
    // The parameter's node is destroyed with the last graph that used it.
    auto tables = made.graph->tables();
    tables.nodes.destroyed[0] = tables.nodes.destroyed[1];
    made.graph = std::make_shared<const Graph>(made.trace, std::make_shared<const GraphTables>(std::move(tables)));
    return made;
}

}  // namespace tidemark::gui::test
