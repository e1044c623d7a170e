#include "gui/model/component_text.h"

#include <QCoreApplication>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Components {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::Components)
};

}  // namespace

QString component_name(const Component& component) {
    switch (component.kind) {
        case ComponentKind::requested: return Components::tr("requested by the program");
        case ComponentKind::rounding: return Components::tr("rounding");
        case ComponentKind::pending: return Components::tr("waiting for a stream");
        case ComponentKind::free_in_segments: return Components::tr("holes in used segments");
        case ComponentKind::cached_segments: return Components::tr("idle segments");
        case ComponentKind::private_pools: return Components::tr("free in private pools");
        case ComponentKind::library:
            return component.name.empty() ? Components::tr("other driver memory")
                                          : Components::tr("library %1").arg(to_qstring(component.name));
        case ComponentKind::context: return Components::tr("CUDA context");
        case ComponentKind::kernels: return Components::tr("loaded kernels");
        case ComponentKind::other_processes: return Components::tr("process %1").arg(component.pid);
        case ComponentKind::unknown: return Components::tr("not explained");
    }
    return {};
}

QString component_help(ComponentKind kind) {
    switch (kind) {
        case ComponentKind::requested:
            return Components::tr(
                "Bytes the program asked for in tensors that are alive. Summary says who holds them; freeing or "
                "shrinking those is the only way to make this smaller.");
        case ComponentKind::rounding:
            return Components::tr(
                "Blocks are larger than what was asked for: sizes are rounded up, and a rest too small to be useful "
                "stays with its block. Many small or odd-sized tensors make it grow.");
        case ComponentKind::pending:
            return Components::tr(
                "The program has freed these blocks, but another CUDA stream may still use them. They come back when "
                "that stream gets there; record_stream() is what makes them wait.");
        case ComponentKind::free_in_segments:
            return Components::tr(
                "Free memory in segments that also hold something. The allocator reuses it for requests that fit; "
                "empty_cache() cannot give it back. Expandable segments make fewer holes.");
        case ComponentKind::cached_segments:
            return Components::tr(
                "Segments without any block, kept for later. torch.cuda.empty_cache() would give them back to the "
                "driver.");
        case ComponentKind::private_pools:
            return Components::tr(
                "Free memory that belongs to private pools, such as those of CUDA graphs. Nobody else can use it "
                "until the graph is gone.");
        case ComponentKind::library:
            return Components::tr(
                "Memory a library took from the driver itself, beside PyTorch's allocator: workspaces of cuBLAS, "
                "buffers of NCCL and the like. Its own settings make it smaller.");
        case ComponentKind::context:
            return Components::tr(
                "What CUDA itself needs for a process to use the GPU. It is there as long as the process is; fewer "
                "processes per GPU means fewer contexts.");
        case ComponentKind::kernels:
            return Components::tr(
                "Code of GPU kernels that was loaded when first used. It stays; CUDA_MODULE_LOADING=LAZY keeps out "
                "what is never used.");
        case ComponentKind::other_processes:
            return Components::tr(
                "Another process holds this on the same GPU. nvidia-smi lists it; it is not yours to free here.");
        case ComponentKind::unknown:
            return Components::tr(
                "What NVML shows beyond everything that is known: the driver's own memory, or what was not recorded. "
                "Negative: the layers claim more than NVML shows at this moment.");
    }
    return {};
}

}  // namespace tidemark::gui
