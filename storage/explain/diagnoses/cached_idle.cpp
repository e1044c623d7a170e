// #16: freed memory that the allocator keeps for later.
#include "storage/base/units.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;  ///< less than a segment is not worth a word

}  // namespace

void diagnose_cached_idle(const Case& of, const Words& words, Findings& findings, Progress&) {
    const int64_t idle = of.row().bytes_of(LayerKind::idle_segments);
    const int64_t gaps = of.row().bytes_of(LayerKind::free_in_segments);
    if (idle + gaps < least_bytes) {
        return;
    }
    Finding finding;
    finding.kind = FindingKind::cached_idle;
    finding.verdict = Verdict::background;
    finding.basis = words("Replayed from the allocator's events: which segments hold blocks and which do not.");
    finding.bytes = idle + gaps;
    finding.layer = idle >= gaps ? LayerKind::idle_segments : LayerKind::free_in_segments;
    finding.title =
        words("PyTorch keeps {bytes} of freed memory for later", with("bytes", format_bytes(finding.bytes)));
    finding.text = {words(
        "A tensor that is freed does not go back to the driver: PyTorch keeps its memory and serves the next tensor "
        "from it. nvidia-smi still counts it. {idle} of it lies in segments without any tensor and can be given back; "
        "{gaps} lies between tensors and cannot.",
        with("idle", format_bytes(idle)), with("gaps", format_bytes(gaps)))};
    finding.evidence = {at_layer(of, words("Segments without any tensor: {bytes}", with("bytes", format_bytes(idle))),
                                 LayerKind::idle_segments),
                        at_layer(of, words("Gaps between tensors: {bytes}", with("bytes", format_bytes(gaps))),
                                 LayerKind::free_in_segments)};
    finding.fixes = {{words("Nothing needs mending. Only if another program needs the memory now:"),
                      "torch.cuda.empty_cache()",
                      idle,
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
