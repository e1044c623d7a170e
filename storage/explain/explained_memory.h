// What every program has becomes the answer only where nothing the program did explains its memory.
#pragma once

#include "storage/explain/diagnoses.h"

namespace tidemark {

/// Something the program did was found that a person would want to hear about first. Diagnoses that ask are asked last.
bool is_memory_explained(const Findings& findings);

}  // namespace tidemark
