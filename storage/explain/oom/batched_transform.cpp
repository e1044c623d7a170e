// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A transform of torch.func (vmap, jacrev, jacfwd, hessian) that computes all rows of its batch at once.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Tensors of a single row are far smaller than the request; those of all rows have at least this part (1 / 2) of it.
constexpr int64_t least_part_of_request = 2;
/// The tensors of all rows and the request must be at least this part (1 / 4) of the memory in use and the request.
constexpr int64_t least_part = 4;
constexpr int64_t fewest_chunks = 8;  ///< a few more than fit cost no time, and leave room for other tensors

/// Returns "jacrev" for its function "jacrev.<locals>.wrapper_fn", "vmap" for the function in which it calls the
/// program's, and "" for other functions.
std::string_view transform_of(const StackTable& stacks, FrameId id) {
    const Frame& frame = stacks.frame(id);
    if (is_torch_function(stacks, frame, "_functorch/vmap.py", "_flat_vmap")) {
        return "vmap";
    }
    if (!is_torch_function(stacks, frame, "_functorch/eager_transforms.py")) {
        return {};
    }
    const std::string_view function = stacks.string(frame.function);
    for (const std::string_view name : {std::string_view("jacrev"), std::string_view("jacfwd")}) {
        if (function.starts_with(name) && function.substr(name.size()).starts_with('.')) {
            return name;
        }
    }
    return {};
}

/// The outermost transform of the request.
struct Transform {
    std::string_view name;
    StackId caller = 0;      ///< the stack that called it
    bool has_batch = false;  ///< the request is for all rows
};

/// The stack of a request in a backward pass is that of the forward pass, which jacrev computes for one row only.
Transform find_transform(const OomCase& oom) {
    Transform found;
    for (StackId id = oom.oom().stack; id != 0; id = oom.stacks().stack(id).caller) {
        if (const std::string_view name = transform_of(oom.stacks(), oom.stacks().stack(id).frame); !name.empty()) {
            // jacfwd calls vmap.
            found.name = name;
            found.caller = oom.stacks().stack(id).caller;
            found.has_batch = found.has_batch || name == "vmap" || oom.phase() == Phase::backward;
        }
    }
    return found;
}

/// Returns the bytes of the tensors of all rows that this call of the transform made.
int64_t batch_bytes(const OomCase& oom) {
    const std::vector<bool> has_transform = stacks_with_frame(
        oom.stacks(), [&](const Frame& frame) { return is_torch_function(oom.stacks(), frame, "_functorch/"); });
    int64_t bytes = 0;
    for (const AllocationIndex a : oom.alive()) {
        const bool is_batch = oom.bytes(a) * least_part_of_request >= oom.analysis().requested();
        bytes += is_batch && has_transform[oom.allocations().stack[a]] ? oom.bytes(a) : 0;
    }
    return bytes;
}

void add_products(const Words& words, OomAnswer& answer) {
    add_fix(answer,
            words("If only products of the Jacobian with vectors are needed, as in an iterative solver, compute these "
                  "with vjp() and jvp(): no tensor has all rows."),
            "_, pullback = torch.func.vjp(function, inputs)\n(row,) = pullback(vector)  # vector^T J\n"
            "_, column = torch.func.jvp(function, (inputs,), (vector,))  # J vector");
}

}  // namespace

void oom_advice::batched_transform(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const Transform transform = find_transform(oom);
    if (!transform.has_batch) {
        return;
    }
    const int64_t bytes = batch_bytes(oom), asked = oom.analysis().requested();
    if ((bytes + asked) * least_part < oom.in_use() + asked) {
        return;
    }
    const auto name = with("transform", transform.name);
    const auto line = with("line", line_of(oom.context().trace(), transform.caller));
    answer.text.push_back(
        bytes == 0
            ? words("`{transform}`, called at {line}, computes all rows of its batch at once: the request is for "
                    "{asked}.",
                    name, line, with("asked", format_bytes(asked)))
            : words("`{transform}`, called at {line}, computes all rows of its batch at once: their tensors "
                    "take {bytes}, and the request is for another {asked}.",
                    name, line, with("bytes", format_bytes(bytes)), with("asked", format_bytes(asked))));
    const std::optional<int64_t> least = oom.parts_that_fit(bytes);
    const int64_t chunks = std::max(least.value_or(fewest_chunks), fewest_chunks);
    const int64_t all = bytes + asked, part = all / chunks;
    answer.fixes.push_back(
        {{words("Compute fewer rows at a time with `chunk_size=`: with {parts} chunks, the request and the tensors of "
                "all rows would take {part} instead of {all}.",
                with("parts", chunks), with("part", format_bytes(part)), with("all", format_bytes(all))),
          fmt::format("torch.func.{}(function, chunk_size=rows // {})", transform.name, chunks),
          all - part,
          {}},
         least.has_value()});
    if (transform.name != "vmap") {
        add_products(words, answer);
    }
}

}  // namespace tidemark
