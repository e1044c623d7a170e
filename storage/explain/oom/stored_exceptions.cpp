// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/stored_exceptions.h"

#include <algorithm>

#include "storage/explain/retention.h"

namespace tidemark {
namespace {

std::vector<FrameId> outermost_first(const StackTable& stacks, StackId stack) {
    std::vector<FrameId> frames = stacks.frames_of(stack);
    std::reverse(frames.begin(), frames.end());
    return frames;
}

/// Returns whether an except block may have handled the error when it made the request: the block belongs to the last
/// function that both stacks have in common, and its lines come after those of the try block. Stacks that begin with
/// different functions are of different threads, and an error may be raised again in another thread.
bool may_handle(const StackTable& stacks, const std::vector<FrameId>& error, const std::vector<FrameId>& request) {
    const auto [at_error, at_request] = std::mismatch(error.begin(), error.end(), request.begin(), request.end());
    if (at_error == error.end() || at_request == request.end()) {
        return at_error == error.begin();
    }
    const Frame &failed = stacks.frame(*at_error), &now = stacks.frame(*at_request);
    const bool is_same_function = failed.function == now.function && failed.file == now.file;
    return is_same_function ? now.line == 0 || now.line > failed.line : at_error == error.begin();
}

}  // namespace

StoredExceptions::StoredExceptions(const AnalysisContext& context, const OtherEvent& oom) : graph_(*context.graph()) {
    const StackTable& stacks = context.trace().stacks;
    const std::vector<FrameId> request = outermost_first(stacks, oom.stack);
    for (const OtherEvent& other : context.device().others) {
        if (other.action == Action::oom && other.event < oom.event) {
            std::vector<FrameId> frames = outermost_first(stacks, other.stack);
            const bool may_be_handled = may_handle(stacks, frames, request);
            errors_.push_back({std::move(frames), may_be_handled});
        }
    }
}

bool StoredExceptions::is_at(const Error& error, const PathLink& variable) const {
    const StackTable& stacks = graph_.index.trace().stacks;
    return std::any_of(error.frames.begin(), error.frames.end(), [&](FrameId id) {
        const Frame& frame = stacks.frame(id);
        return frame.line == variable.line && is_function_of(graph_, frame, variable);
    });
}

bool StoredExceptions::has(const Referrer& referrer) const {
    return std::any_of(referrer.links.begin(), referrer.links.end(), [&](const PathLink& link) {
        bool is_known = false;
        for (const Error& error : errors_) {
            const bool may_be_this = link.kind == PathLinkKind::exception && is_at(error, link);
            if (may_be_this && error.may_be_handled) {
                return false;
            }
            is_known = is_known || may_be_this;
        }
        return is_known;
    });
}

}  // namespace tidemark
