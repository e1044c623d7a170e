// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/explanation_source.h"

#include <algorithm>
#include <exception>

#include "gui/model/explained.h"
#include "gui/model/session.h"
#include "gui/model/text.h"
#include "storage/explain/explain.h"

namespace tidemark::gui {

namespace {

constexpr double share_of_graph = 0.3;  // of the progress shown

/// The input of a worker. With an existing context it only writes the texts again.
struct Question {
    std::shared_ptr<const AnalysisContext> context;
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const Graph> graph;
    tidemark::Language language;
};

std::shared_ptr<const Explained> answer(const Question& question, Progress& progress) {
    auto result = std::make_shared<Explained>();
    result->language = question.language;
    try {
        result->context = question.context ? question.context
                                           : std::make_shared<const AnalysisContext>(question.analysis, question.graph);
        result->explanation = explain(*result->context, Words(question.language), progress);
    } catch (const std::exception& error) {
        result->problem = to_qstring(error.what());
    }
    return progress.canceled ? nullptr : result;
}

}  // namespace

ExplanationSource::ExplanationSource(Session& session)
    : QObject(&session),
      session_(session),
      task_(this, OnNewerRequest::cancel_running,
            [this](const std::shared_ptr<const Explained>& explained) { take(explained); }) {
    connect(&session.selection(), &Selection::device_changed, this, &ExplanationSource::show_device);
    connect(&session.graph_source(), &GraphSource::state_changed, this, &ExplanationSource::graph_ready);
    connect(&session, &Session::live_changed, this, &ExplanationSource::end_of_run);
}

ExplanationSource::~ExplanationSource() = default;

tidemark::Language ExplanationSource::language() {
    const QString code = tr("en", "the language of the findings: en or zh_CN");
    return language_from_name(code.toStdString()).value_or(tidemark::Language::english);
}

ExplanationSource::State ExplanationSource::state() const {
    if (awaits_graph_ || task_.busy()) {
        return State::working;
    }
    const auto it = explained_.find(session_.selection().state().device);
    return it == explained_.end() ? State::not_requested : it->second->problem.isEmpty() ? State::ready : State::failed;
}

double ExplanationSource::fraction() const {
    return awaits_graph_ ? session_.graph_source().fraction() * share_of_graph
                         : share_of_graph + (1 - share_of_graph) * task_.fraction();
}

QString ExplanationSource::problem() const {
    const auto it = explained_.find(session_.selection().state().device);
    return it == explained_.end() ? QString() : it->second->problem;
}

std::shared_ptr<const Explained> ExplanationSource::explained() const {
    const auto it = explained_.find(session_.selection().state().device);
    return it == explained_.end() || !it->second->problem.isEmpty() ? nullptr : it->second;
}

bool ExplanationSource::is_current() const {
    const auto it = explained_.find(session_.selection().state().device);
    return it != explained_.end() && it->second->context && &it->second->context->trace() == &session_.trace();
}

void ExplanationSource::request() {
    requested_ = true;
    if (!session_.has_device() || session_.is_live()) {
        return;
    }
    const auto it = explained_.find(session_.selection().state().device);
    if (it == explained_.end() || !is_current() || it->second->language != language()) {
        explain_now();
    }
}

void ExplanationSource::explain_growth() {
    constexpr int64_t least_growth = 5'000'000'000;  // ns
    const bool is_longer = session_.known_time() >= explained_until_ + std::max(least_growth, explained_until_ / 2);
    if (session_.is_live() && session_.has_device() && state() != State::working && is_longer) {
        explain_now();
    }
}

void ExplanationSource::explain_now() {
    requested_ = true;
    explained_until_ = session_.known_time();
    session_.load_graph();
    awaits_graph_ = true;
    emit state_changed();
    graph_ready();
}

void ExplanationSource::graph_ready() {
    if (awaits_graph_ && session_.graph_source().state() != GraphSource::State::reading) {
        awaits_graph_ = false;
        start();
    }
}

void ExplanationSource::start() {
    Question question{nullptr, session_.shared_analysis(), nullptr, language()};
    if (session_.graph() && session_.graph_source().is_of(session_.trace())) {
        question.graph = session_.graph();
    }
    if (is_current()) {
        question.context = explained_[session_.selection().state().device]->context;
    }
    task_.start([question](Progress& progress) { return answer(question, progress); });
    emit state_changed();
}

void ExplanationSource::take(const std::shared_ptr<const Explained>& explained) {
    const int position = explained->context ? static_cast<int>(explained->context->device_position())
                                            : session_.selection().state().device;
    explained_[position] = explained;
    if (position == session_.selection().state().device) {
        selected_ = -1;
        emit changed();
    }
    emit state_changed();
}

void ExplanationSource::show_device() {
    selected_ = -1;
    emit changed();
    if (requested_) {
        request();
    }
    emit state_changed();
}

void ExplanationSource::end_of_run() {
    if (requested_) {
        request();
    }
    emit state_changed();
}

void ExplanationSource::select(int finding) {
    if (finding != selected_) {
        selected_ = finding;
        emit selected_changed();
    }
}

}  // namespace tidemark::gui
