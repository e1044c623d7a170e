// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/library_advice.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "storage/base/sentence.h"
#include "storage/explain/library_changes.h"
#include "storage/explain/program_code.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// When a stack with such a frame proves the use of the API.
enum class Proof : uint8_t {
    request,         ///< the frame itself accumulates or copies
    growth,          ///< only if the memory grows, or filled a cache: the same frames also allocate temporaries
    endless_growth,  ///< only if it still grows: the advice says that nothing is removed
};

/// A change of the program's own lines that the fix makes.
enum class Change : uint8_t { none, reset_metric, clear_in_method, free_memory, delete_adapter };

constexpr size_t most_functions = 5;
constexpr std::string_view call_of_generate =
    "model.generate(..., max_new_tokens=256, cache_implementation=\"offloaded\")";
constexpr std::string_view any_class = "*";

/// A known place in a library.
struct Place {
    std::string_view file;                                   ///< a part of the path, from the package on
    std::array<std::string_view, most_functions> functions;  ///< without class; empty: all
    Proof proof;
    Literal text;
    std::string_view code;
    std::string_view within = {};           ///< a function that must be a caller
    std::string_view retaining_class = {};  ///< of this file; its objects retain what they get
    /// The name of the library's object in the code, or of the program's container if it starts with "self."
    std::string_view object = {};
    bool needs_owner = false;  ///< only if the program itself retains the library's object, whose tensors grow
    Change change = Change::none;

    bool has_all_functions() const { return functions.front().empty(); }
};

// Sources: transformers 4.30 to 5, pytorch-lightning and lightning 2, torchmetrics 1, accelerate 1, peft 0.18,
// torch_geometric 2.6, diffusers 0.30, torch 2.11. The first place that matches a frame wins; inner frames come first.
constexpr std::array places{
    Place{
        "/transformers/trainer_pt_utils.py",
        {"nested_concat", "torch_pad_and_concatenate", "add", "distributed_concat"},
        Proof::request,
        Literal(
            "Trainer.evaluate() gathers the outputs of all batches on the GPU. Move them to the CPU every few batches, "
            "with an argument of TrainingArguments. Or keep only what the metric needs, with an argument of Trainer: "
            "compute_metrics then gets that in place of the logits."),
        "TrainingArguments(..., eval_accumulation_steps=1)\n"
        "# or\n"
        "Trainer(..., preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(dim=-1))",
        {},
        "EvalLoopContainer"},
    Place{
        "/transformers/loss/loss_utils.py",
        {},
        Proof::request,
        Literal(
            "The loss of transformers copies the logits of the whole vocabulary to float32. A fused loss computes them "
            "in pieces."),
        "TrainingArguments(..., use_liger_kernel=True)"},
    Place{
        "/transformers/cache_utils.py",
        {"update", "append", "lazy_initialization"},
        Proof::request,
        Literal(
            "The key-value cache keeps keys and values of all tokens. Limit the tokens, keep the cache in host memory, "
            "and drop `past_key_values` of finished requests."),
        call_of_generate,
        "generate"},
    Place{"/transformers/cache_utils.py",
          {"update", "append", "lazy_initialization"},
          Proof::growth,
          Literal(
              "Each call that gets the key-value cache adds its tokens to it. Crop the cache back after each request, "
              "or give each request its own copy of the prefilled cache. If later calls need these tokens, limit their "
              "number."),
          "length = cache.get_seq_length()  # before the request\ncache.crop(length)  # after it\n"
          "request_cache = copy.deepcopy(cache)  # or a copy for each request",
          {},
          any_class,
          {},
          true},
    Place{
        "/transformers/cache_utils.py",
        {"update", "append", "lazy_initialization"},
        Proof::growth,
        Literal(
            "The key-value cache keeps keys and values of all tokens. Limit the tokens, keep the cache in host memory, "
            "and drop `past_key_values` of finished requests."),
        call_of_generate,
        {},
        "*"},
    Place{"/transformers/generation/logits_process.py",
          {},
          Proof::growth,
          Literal("generate() returns the scores of all tokens of the vocabulary for each new token, and they stay on "
                  "the GPU with its result. Request the scores only if they are used."),
          "output = model.generate(..., output_scores=False)"},
    Place{
        "/torchmetrics/",
        {"compute", "dim_zero_cat"},
        Proof::request,
        Literal(
            "The metric keeps the tensors of every update() until reset(). Reset it after each compute(), or keep its "
            "states in host memory."),
        "metric.reset()\n# or\nMetric(..., compute_on_cpu=True)",
        {},
        {},
        "metric",
        false,
        Change::reset_metric},
    Place{
        "/torchmetrics/",
        {},
        Proof::endless_growth,
        Literal(
            "The metric keeps the tensors of every update() until reset(). Reset it after each compute(), or keep its "
            "states in host memory."),
        "metric.reset()\n# or\nMetric(..., compute_on_cpu=True)",
        {},
        any_class,
        "metric",
        false,
        Change::reset_metric},
    Place{"/diffusers/models/autoencoders/",
          {},
          Proof::request,
          Literal("The autoencoder decodes the whole image at once. Decode it in tiles."),
          "pipe.vae.enable_tiling()"},
    Place{"/loops/prediction_loop.py",
          {},
          Proof::growth,
          Literal("Trainer.predict() keeps the predictions of all batches. Write them out in a BasePredictionWriter "
                  "instead."),
          "trainer.predict(model, loader, return_predictions=False)"},
    Place{
        "/loops/evaluation_loop.py",
        {},
        Proof::endless_growth,
        Literal(
            "Lightning does not clear what validation_step() or test_step() collects in an attribute. Clear it in the "
            "last line of on_validation_epoch_end() or on_test_epoch_end(). Add the method if the class has none."),
        "self.outputs.clear()  # last line of on_validation_epoch_end()",
        {},
        {},
        "self.outputs",
        false,
        Change::clear_in_method},
    Place{
        "/loops/training_epoch_loop.py",
        {},
        Proof::endless_growth,
        Literal("Lightning does not clear what training_step() collects in an attribute. Clear it in the last line of "
                "on_train_epoch_end(). Add the method if the class has none."),
        "self.outputs.clear()  # last line of on_train_epoch_end()",
        {},
        {},
        "self.outputs",
        false,
        Change::clear_in_method},
    Place{"/accelerate/accelerator.py",
          {"prepare", "prepare_model", "prepare_optimizer", "_prepare_one"},
          Proof::growth,
          Literal("The Accelerator keeps every model and optimizer that it prepared. Release them before the next."),
          "model, optimizer = accelerator.free_memory(model, optimizer)",
          {},
          "Accelerator",
          "accelerator",
          false,
          Change::free_memory},
    Place{"/accelerate/utils/operations.py",
          {"gather", "_gpu_gather", "_gpu_gather_one"},
          Proof::growth,
          Literal("gather_for_metrics() returns tensors on the GPU. Move them to the CPU before you collect them."),
          "predictions.append(accelerator.gather_for_metrics(output).cpu())"},
    Place{"/peft/",
          {"add_adapter", "load_adapter", "inject_adapter", "update_layer", "_create_and_replace"},
          Proof::growth,
          Literal("The model keeps every adapter until it is deleted. Delete adapters that are no longer used."),
          "model.delete_adapter(adapter_name)",
          {},
          {},
          "model",
          false,
          Change::delete_adapter},
    Place{
        "/torch/distributed/distributed_c10d.py",
        {"new_group", "init_process_group", "_new_group_with_tag"},
        Proof::growth,
        Literal("Each process group keeps its communicator and buffers. Create a group once, or destroy it after use."),
        "torch.distributed.destroy_process_group(group)"},
    Place{"/torch_geometric/data/",
          {"to", "cuda", "apply", "apply_"},
          Proof::growth,
          Literal("`.to()` of PyTorch Geometric moves the Data object itself, so the data set stays on the GPU. Move a "
                  "copy."),
          "batch = data.clone().to(device)"}};

/// Returns the name without class and enclosing functions, which PyTorch's own recording lacks.
std::string_view last_part(std::string_view function) { return function.substr(function.rfind('.') + 1); }

bool is_at(const Place& place, std::string_view file, std::string_view function) {
    return file.find(place.file) != file.npos &&
           (place.has_all_functions() ||
            std::find(place.functions.begin(), place.functions.end(), last_part(function)) != place.functions.end());
}

bool has_function(const StackTable& stacks, const std::vector<FrameId>& frames, std::string_view function) {
    return std::any_of(frames.begin(), frames.end(),
                       [&](FrameId id) { return last_part(stacks.string(stacks.frame(id).function)) == function; });
}

/// `known`: what is known of the memory that the stack allocated.
const Place* find_place(const StackTable& stacks, StackId stack, Proof known) {
    const std::vector<FrameId> frames = stacks.frames_of(stack);
    for (const FrameId id : frames) {
        // A folder of the program may have the name of a library.
        if (stacks.role(id) != FrameRole::library) {
            continue;
        }
        const Frame& frame = stacks.frame(id);
        const auto found = std::find_if(places.begin(), places.end(), [&](const Place& place) {
            return place.proof <= known && !place.needs_owner &&
                   is_at(place, stacks.string(frame.file), stacks.string(frame.function)) &&
                   (place.within.empty() || has_function(stacks, frames, place.within));
        });
        if (found != places.end()) {
            return &*found;
        }
    }
    return nullptr;
}

/// Returns whether a frame of the trace fulfills the condition.
template <class Condition>
bool any_frame(const StackTable& stacks, Condition&& condition) {
    FrameId id = 0;
    while (id < stacks.frame_count() && !condition(id)) {
        ++id;
    }
    return id < stacks.frame_count();
}

bool is_frame_of(const StackTable& stacks, FrameId id, FrameRole role, std::string_view owner) {
    return stacks.role(id) == role && is_method_of(stacks.string(stacks.frame(id).function), owner);
}

bool is_in_file(const StackTable& stacks, FrameId id, std::string_view file) {
    return stacks.string(stacks.frame(id).file).find(file) != std::string::npos;
}

/// Returns whether the frame is a method of the class in the place's file.
bool is_method_at(const Place& place, const StackTable& stacks, FrameId id, std::string_view owner) {
    return is_frame_of(stacks, id, FrameRole::library, owner) && is_in_file(stacks, id, place.file);
}

/// Returns the package in "/package/file.py", with both slashes.
std::string_view package_of(std::string_view file) { return file.substr(0, file.find('/', 1) + 1); }

/// Returns whether the frame proves that objects of this class, which retain what they get, are the library's: it is a
/// method of the class in the place's file or, if the place is about this class alone, in the library.
bool has_retaining_class(const Place& place, const StackTable& stacks, FrameId id, std::string_view owner) {
    return place.retaining_class == owner
               ? stacks.role(id) == FrameRole::library && is_in_file(stacks, id, package_of(place.file))
               : place.retaining_class == any_class && is_method_at(place, stacks, id, owner);
}

/// Returns the place of the class if a stack of the trace proves that it is the library's. `has_owner`: see
/// Place::needs_owner.
const Place* find_place_of_class(const StackTable& stacks, std::string_view owner, bool has_owner) {
    const auto found = std::find_if(places.begin(), places.end(), [&](const Place& place) {
        return !place.retaining_class.empty() && (has_owner || !place.needs_owner) &&
               any_frame(stacks, [&](FrameId id) { return has_retaining_class(place, stacks, id, owner); });
    });
    return found == places.end() ? nullptr : &*found;
}

bool is_of_library(const Place& place, const StackTable& stacks, std::string_view owner) {
    return !owner.empty() && any_frame(stacks, [&](FrameId id) {
        return is_method_at(place, stacks, id, owner) || has_retaining_class(place, stacks, id, owner);
    });
}

bool is_of_program(const StackTable& stacks, std::string_view owner) {
    return !owner.empty() &&
           any_frame(stacks, [&](FrameId id) { return is_frame_of(stacks, id, FrameRole::user, owner); });
}

/// Returns whether the program itself retains what the path leads to: the path starts at a variable of one of its
/// functions, or leads through an object of one of its classes. Stacks show both.
bool starts_in_program(const StackTable& stacks, const GraphTables& tables, std::span<const PathLink> links) {
    const auto has_variable = [&](FrameId id) {
        const Frame& frame = stacks.frame(id);
        return stacks.role(id) == FrameRole::user && stacks.string(frame.file) == tables.texts[links.front().file] &&
               stacks.string(frame.function) == tables.texts[links.front().function];
    };
    return (!links.empty() && any_frame(stacks, has_variable)) ||
           std::any_of(links.begin(), links.end(),
                       [&](const PathLink& link) { return is_of_program(stacks, owner_of(tables, link)); });
}

/// Returns the program's name of the outermost object of the library on the path, or of the last container that is an
/// attribute of an object of the program; "" if there is none.
std::string name_of_object(const Place& place, const StackTable& stacks, const GraphTables& tables,
                           const std::vector<PathLink>& links) {
    constexpr std::string_view self = "self.";
    const bool is_container = place.object.starts_with(self);
    std::string found;
    for (size_t i = 0; i < links.size() && (is_container || found.empty()); ++i) {
        const std::string owner = owner_of(tables, links[i]);
        if (is_container && i + 1 < links.size() && is_element(links[i + 1]) && is_of_program(stacks, owner)) {
            const std::string& name = tables.texts[links[i].name];
            found = fmt::format("{}{}", self, name.substr(0, name.find(' ')));
        } else if (!is_container && is_of_library(place, stacks, owner)) {
            found = object_expression(tables, links, i);
        }
    }
    return found.find('<') == std::string::npos ? found : std::string();
}

/// Returns the class of the innermost object of the library on the path; "" if there is none.
std::string class_of_object(const Place& place, const StackTable& stacks, const RetentionPath& path) {
    for (size_t i = path.links.size(); i-- > 0;) {
        std::string owner = owner_of(path.tables, path.links[i]);
        if (is_of_library(place, stacks, owner)) {
            return owner;
        }
    }
    return {};
}

void replace_first(std::string& code, std::string_view text, std::string_view replacement) {
    if (const size_t at = code.find(text); at != code.npos && !replacement.empty()) {
        code.replace(at, text.size(), replacement);
    }
}

/// Names the program's objects in the code of the place, and the lines of the program that the code changes.
std::string code_in_program(const Place& place, const Trace& trace, const RetentionPath* path) {
    constexpr std::string_view any_metric = "Metric(";
    std::string code(place.code);
    if (path && !place.object.empty()) {
        replace_first(code, place.object, name_of_object(place, trace.stacks, path->tables, path->links));
        const std::string type = class_of_object(place, trace.stacks, *path);
        replace_first(code, any_metric, type.empty() ? type : type + "(");
    }
    return with_places(trace, code);
}

/// Returns the class whose attribute the last container is that is one of an object of the program; "" if there is
/// none.
std::string owner_of_container(const StackTable& stacks, const RetentionPath& path) {
    for (size_t i = path.links.size(); i-- > 1;) {
        std::string owner = owner_of(path.tables, path.links[i - 1]);
        if (is_element(path.links[i]) && is_of_program(stacks, owner)) {
            return owner;
        }
    }
    return {};
}

/// Names the object of the metric by the line that creates it, if its path has no name.
void name_metric(Fix& fix, const Place& place, const Trace& trace, const RetentionPath& path) {
    if (!fix.code.starts_with(fmt::format("{}.", place.object))) {
        return;
    }
    const std::string type = class_of_object(place, trace.stacks, path);
    replace_first(fix.code, place.object, type.empty() ? type : variable_of_class(trace, type));
}

/// Names the adapter, and the line that adds it.
void name_adapter(Fix& fix, const Trace& trace, const Words& words, StackId stack) {
    const auto added = added_adapter(trace, stack);
    if (!added) {
        return;
    }
    fix.code = fmt::format("{}.delete_adapter({})", added->model, added->name);
    fix.text = words.sentences(
        {fix.text, words("{place} adds each of them, with the name `{name}`.", with("place", name_of(added->place)),
                         with("name", std::string(added->name)))});
    fix.diff = delete_adapter_diff(trace, *added);
}

/// Sets the diff of the fix, if the program's lines show one place for it.
void fit_to_program(Fix& fix, const Place& place, const Trace& trace, const Words& words, StackId stack,
                    const RetentionPath* path) {
    constexpr std::string_view last_line_of = "  # last line of ";
    if (place.change == Change::delete_adapter) {
        name_adapter(fix, trace, words, stack);
    }
    if (place.change == Change::reset_metric && path) {
        name_metric(fix, place, trace, *path);
    } else if (place.change == Change::reset_metric) {
        replace_first(fix.code, place.object, computed_metric(trace, stack));
    } else if (!path) {
        return;
    }
    // The code is a call of the object's method, or the assignment of its result.
    const std::string call = fix.code.substr(0, fix.code.find('('));
    const std::string object = call.substr(call.find_last_of(' ') + 1, call.rfind('.') - call.find_last_of(' ') - 1);
    switch (place.change) {
        case Change::none:
        case Change::delete_adapter: break;
        case Change::reset_metric: fix.diff = reset_metric_diff(trace, object); break;
        case Change::free_memory: fix.diff = free_memory_diff(trace, object); break;
        case Change::clear_in_method: {
            const std::string_view method = place.code.substr(place.code.find(last_line_of) + last_line_of.size());
            fix.diff = append_to_method_diff(trace, owner_of_container(trace.stacks, *path),
                                             method.substr(0, method.find('(')), fmt::format("{}.clear()", object));
            break;
        }
    }
}

/// Returns the fix for a key-value cache, without arguments that the program's call has already: transformers refuses
/// `cache_implementation` beside a cache of the program.
Fix fix_of_cache(const Place& place, const Trace& trace, const Words& words, StackId stack) {
    if (passes_argument(trace, stack, "past_key_values")) {
        return {
            words("The key-value cache keeps keys and values of all tokens. The program passes its own cache to the "
                  "model: drop the cache of each finished request, or move it to host memory."),
            {},
            {},
            {}};
    }
    std::string code(place.code);
    if (passes_argument(trace, stack, "max_new_tokens") || passes_argument(trace, stack, "max_length")) {
        replace_first(code, "..., max_new_tokens=256", "...");
    }
    return {words.translate(Sentence(place.text)), std::move(code), {}, {}};
}

/// `stack`: of the memory. `path`: nullptr if it is unknown.
std::optional<Fix> fix_at(const Place* place, const Trace& trace, const Words& words, StackId stack,
                          const RetentionPath* path) {
    if (!place) {
        return std::nullopt;
    }
    if (place->code == call_of_generate) {
        return fix_of_cache(*place, trace, words, stack);
    }
    Fix fix{words.translate(Sentence(place->text)), code_in_program(*place, trace, path), {}, {}};
    fit_to_program(fix, *place, trace, words, stack, path);
    return fix;
}

}  // namespace

std::optional<Fix> library_fix_of_growth(const Trace& trace, const Words& words, StackId stack,
                                         const RetentionPath* path) {
    return fix_at(find_place(trace.stacks, stack, Proof::endless_growth), trace, words, stack, path);
}

std::optional<Fix> library_fix_of_cache(const Trace& trace, const Words& words, StackId stack) {
    return fix_at(find_place(trace.stacks, stack, Proof::growth), trace, words, stack, nullptr);
}

std::optional<Fix> library_fix_of_path(const Trace& trace, const GraphTables& tables, const Words& words,
                                       const std::vector<PathLink>& links, Growth growth, StackId stack) {
    const bool has_owner = growth == Growth::of_size && starts_in_program(trace.stacks, tables, links);
    const Place* place = nullptr;
    for (size_t i = links.size(); i-- > 0 && !place;) {
        const std::string owner = owner_of(tables, links[i]);
        place = owner.empty() ? nullptr : find_place_of_class(trace.stacks, owner, has_owner);
    }
    const RetentionPath path{tables, links};
    return fix_at(place, trace, words, stack, &path);
}

bool is_filled_by_library(const Trace& trace, const GraphTables& tables, const std::vector<PathLink>& links) {
    for (size_t i = 0; i < container_end(links); ++i) {
        const std::string owner = owner_of(tables, links[i]);
        if (!owner.empty() && find_place_of_class(trace.stacks, owner, false)) {
            return true;
        }
    }
    return false;
}

std::optional<Fix> library_fix_of_request(const Trace& trace, const Words& words, StackId stack) {
    return fix_at(find_place(trace.stacks, stack, Proof::request), trace, words, stack, nullptr);
}

}  // namespace tidemark
