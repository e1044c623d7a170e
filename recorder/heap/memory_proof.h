// Whether this interpreter lays its objects out as we believe: compared with what Python says, by reads that may fail.
#pragma once

#include "recorder/heap/frame_locals.h"
#include "recorder/heap/heap.h"

namespace tidemark::heap {

bool objects_are_as_known(const tidemark_heap_known& known);
bool frames_are_as_known(const FrameLayout& layout, const tidemark_heap_known& known);

}  // namespace tidemark::heap
