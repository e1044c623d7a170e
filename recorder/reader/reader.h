// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* Reads traces for the Python package: C ABI of libtidemark_reader.so. generate_abi.py reads this header.
 *
 * Any thread may call every function, also for the same run or table. A function that fails writes one sentence for the
 * user to `error`, cut to `capacity` bytes with the final zero, and returns NULL. Texts are UTF-8. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tidemark_run tidemark_run;     /* an open trace */
typedef struct tidemark_table tidemark_table; /* rows of a trace */
typedef struct tidemark_text tidemark_text;

/* Opens a trace (.tide). */
tidemark_run* tidemark_run_open(const char* path, char* error, size_t capacity);
/* Its tables and texts stay valid. */
void tidemark_run_close(tidemark_run* run);

/* Returns a table of one device (PyTorch's index) or of all (-1). Tables: runs, sites, steps, findings, allocations,
 * events; breakdown, active and groups at the time point `at` (NULL: breakdown at the peak and at the end). `by`: how
 * groups groups, as in `tidemark top --by`. */
tidemark_table* tidemark_run_table(tidemark_run* run, const char* name, int32_t device, const char* at, const char* by,
                                   char* error, size_t capacity);
/* Returns the table changes: what is active in `b` compared with `a`. Device -1: as `tidemark diff` selects. */
tidemark_table* tidemark_run_changes(tidemark_run* a, tidemark_run* b, int32_t device, const char* at_a,
                                     const char* at_b, const char* by, char* error, size_t capacity);
/* Returns the state of a device in words at a time point: a line of text for each device. */
tidemark_text* tidemark_run_points(tidemark_run* run, int32_t device, const char* at, char* error, size_t capacity);
/* Returns the explanation of one device or of all (-1) as "text", "markdown", "html" (a page), "fragment" (a part of a
 * page), "json" (an object; of several devices a list) or "summary". */
tidemark_text* tidemark_run_explanation(tidemark_run* run, int32_t device, const char* format, char* error,
                                        size_t capacity);

int64_t tidemark_table_rows(const tidemark_table* table);
/* Returns a line for each column: its name, a space and the word of its type. */
tidemark_text* tidemark_table_columns(const tidemark_table* table);
/* Returns a new struct ArrowArrayStream of the rows, which tidemark_stream_end() deletes; NULL if out of memory. Its
 * arrays keep the rows alive. */
void* tidemark_table_stream(const tidemark_table* table);
void tidemark_table_close(tidemark_table* table);

/* Returns "arrow_array_stream": the name of capsules with a stream. Valid for as long as the library is loaded. */
void* tidemark_stream_name(void);
/* Deletes the stream of a PyCapsule: its destructor. Requires Python's interpreter lock. */
void tidemark_stream_end(void* capsule);

/* Returns the text, terminated by zero. It is valid until the text is closed. */
const char* tidemark_text_chars(const tidemark_text* text);
void tidemark_text_close(tidemark_text* text);

#ifdef __cplusplus
}
#endif
