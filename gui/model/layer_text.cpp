#include "gui/model/layer_text.h"

#include <QCoreApplication>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Layers {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::Layers)
};

}  // namespace

QString layer_name(const Layer& layer) {
    switch (layer.kind) {
        case LayerKind::requested: return Layers::tr("requested by the program");
        case LayerKind::rounding: return Layers::tr("rounding");
        case LayerKind::waiting: return Layers::tr("waiting for a stream");
        case LayerKind::free_in_segments: return Layers::tr("holes in used segments");
        case LayerKind::idle_segments: return Layers::tr("idle segments");
        case LayerKind::private_pools: return Layers::tr("free in private pools");
        case LayerKind::library:
            return layer.name.empty() ? Layers::tr("other driver memory")
                                      : Layers::tr("library %1").arg(to_qstring(layer.name));
        case LayerKind::context: return Layers::tr("CUDA context");
        case LayerKind::kernels: return Layers::tr("loaded kernels");
        case LayerKind::other_processes: return Layers::tr("process %1").arg(layer.pid);
        case LayerKind::unknown: return Layers::tr("not explained");
    }
    return {};
}

QString layer_help(LayerKind kind) {
    switch (kind) {
        case LayerKind::requested:
            return Layers::tr(
                "Bytes the program asked for in tensors that are alive. Summary says who holds them; freeing or "
                "shrinking those is the only way to make this smaller.");
        case LayerKind::rounding:
            return Layers::tr(
                "Blocks are larger than what was asked for: sizes are rounded up, and a rest too small to be useful "
                "stays with its block. Many small or odd-sized tensors make it grow.");
        case LayerKind::waiting:
            return Layers::tr(
                "The program has freed these blocks, but another CUDA stream may still use them. They come back when "
                "that stream gets there; record_stream() is what makes them wait.");
        case LayerKind::free_in_segments:
            return Layers::tr(
                "Free memory in segments that also hold something. The allocator reuses it for requests that fit; "
                "empty_cache() cannot give it back. Expandable segments make fewer holes.");
        case LayerKind::idle_segments:
            return Layers::tr(
                "Segments without any block, kept for later. torch.cuda.empty_cache() would give them back to the "
                "driver.");
        case LayerKind::private_pools:
            return Layers::tr(
                "Free memory that belongs to private pools, such as those of CUDA graphs. Nobody else can use it "
                "until the graph is gone.");
        case LayerKind::library:
            return Layers::tr(
                "Memory a library took from the driver itself, beside PyTorch's allocator: workspaces of cuBLAS, "
                "buffers of NCCL and the like. Its own settings make it smaller.");
        case LayerKind::context:
            return Layers::tr(
                "What CUDA itself needs for a process to use the GPU. It is there as long as the process is; fewer "
                "processes per GPU means fewer contexts.");
        case LayerKind::kernels:
            return Layers::tr(
                "Code of GPU kernels that was loaded when first used. It stays; CUDA_MODULE_LOADING=LAZY keeps out "
                "what is never used.");
        case LayerKind::other_processes:
            return Layers::tr(
                "Another process holds this on the same GPU. nvidia-smi lists it; it is not yours to free here.");
        case LayerKind::unknown:
            return Layers::tr(
                "What NVML shows beyond everything that is known: the driver's own memory, or what was not recorded. "
                "Negative: the layers claim more than NVML shows at this moment.");
    }
    return {};
}

}  // namespace tidemark::gui
