// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The user's notes on the cards of the findings.
#include "gui/model/text.h"
#include "gui/story/finding_card.h"
#include "gui/story/story_pane.h"

namespace tidemark::gui {

void StoryPane::set_notes(NotesSource* notes) {
    if (notes_) {
        notes_->disconnect(this);
    }
    notes_ = notes;
    if (notes != nullptr) {
        connect(notes, &NotesSource::changed, this, &StoryPane::show_notes);
    }
    show_notes();
}

void StoryPane::show_notes() {
    if (!notes_ || !notes_->is_of(session_) || session_->explanation_source().explained() != explained_) {
        return;  // the cards are of another trace or device; fill() or the notes of this trace follow
    }
    for (FindingCard* card : cards_) {
        card->set_note(lines_to_qstring(notes_->note_on(card->position()).text));
    }
}

}  // namespace tidemark::gui
