// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* Searches the Python heap for retention paths to given objects. C ABI, called by the Python package.
 *
 * A search reads references as the garbage collector does (tp_traverse) and changes no reference count while it runs.
 * It then retains the objects of the paths until tidemark_heap_end(), so that the caller can name them. Requires the
 * interpreter lock; allocates no Python memory. Objects are passed as id().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Known objects, against which the object layout is checked. */
struct tidemark_heap_known {
    uint64_t list, list_type; /* a list, and `list` */
    const uint64_t* items;    /* of the list */
    uint64_t item_count;
    uint64_t some_class; /* a class defined in Python */
    uint64_t frame;      /* of the caller */
    const uint64_t* variables;
    uint64_t variable_count; /* number of `variables`: the frame's first ones, which have values */
    uint64_t get_objects;    /* gc.get_objects; later calls use it */
    uint64_t function_type;  /* of functions defined in Python */
};

/* Checks the layout of this interpreter's objects. Returns 1 when the heap can be scanned, else 0 with a sentence in
 * `error`. */
int tidemark_heap_prepare(int major, int minor, const struct tidemark_heap_known* known, char* error,
                          size_t error_size);

/* Appends to lists[i] the objects whose type is types[i] or derives from it. An object is appended to the first
 * matching list only. */
void tidemark_heap_instances(const uint64_t* types, const uint64_t* lists, int32_t count);

/* The same in parts, between which the program runs; appends weak references. */
typedef struct tidemark_heap_walk tidemark_heap_walk;

enum tidemark_heap_walk_end {
    TIDEMARK_HEAP_WALK_DONE = 0,
    TIDEMARK_HEAP_WALK_LATE = 1,   /* another part is needed */
    TIDEMARK_HEAP_WALK_CHANGED = 2 /* the program has moved the objects: a new walk is needed */
};

/* Begins a walk, which the caller ends. The caller counts in `collections`, which must outlive the walk, the
 * collections of the oldest generation that begin. Returns NULL if out of memory, or if this version of Python cannot
 * be walked in parts. */
tidemark_heap_walk* tidemark_heap_walk_begin(const int64_t* collections);

/* Walks for about longest_ns. Returns tidemark_heap_walk_end. */
int tidemark_heap_walk_part(tidemark_heap_walk* walk, const uint64_t* types, const uint64_t* lists, int32_t count,
                            int64_t longest_ns);

/* Ends the walk. */
void tidemark_heap_walk_end(tidemark_heap_walk* walk);

/* Stores the values of the first `count` variables of a frame; 0: no value. Nothing retains the values, so the caller
 * may only compare the addresses. */
void tidemark_heap_variables(uint64_t frame, uint64_t* objects, int32_t count);

/* A GC root of a search: an object, or the variables of a frame. */
struct tidemark_heap_root {
    uint64_t object;
    int32_t variables; /* -1: the object itself; else a frame with this number of variables */
    int32_t distance;  /* of the root itself: at most TIDEMARK_HEAP_FURTHEST */
};

/* Objects of this type, or of a type derived from it, are unlike others. */
struct tidemark_heap_type {
    uint64_t type;
    int32_t distance;  /* from an object that refers to one of this type, at most TIDEMARK_HEAP_FURTHEST; others: 1 */
    int32_t reference; /* offset of the only reference of an object that the garbage collector does not know; else 0 */
    int32_t is_noted;  /* whether the search notes them on its way */
};
#define TIDEMARK_HEAP_FURTHEST 63

/* What a search looks for, and where. */
struct tidemark_heap_plan {
    const uint64_t* targets;
    int64_t target_count;
    /* In addition, the first tensor found for each of these blocks of memory. */
    const uint64_t* blocks;
    int64_t block_count;
    uint64_t tensor_type;
    uint64_t block_of;   /* address of tidemark_plugin_block_of() */
    int64_t impl_offset; /* of the address of its TensorImpl in a tensor object */
    /* In addition, the nearest tensors that the search notes on its way, without those that are known already, and the
     * nearest objects of noted types. */
    uint64_t notes_tensor; /* address of a function like tidemark_plugin_has_node(); 0: of none */
    const uint64_t* known_tensors;
    int64_t known_tensor_count;
    int64_t most_noted;
    /* Their references are followed only if they are roots. */
    const uint64_t* barriers;
    int64_t barrier_count;
    const struct tidemark_heap_type* types;
    int64_t type_count;
};

enum tidemark_heap_path_start {
    TIDEMARK_HEAP_UNREFERENCED = 0, /* no path: no Python object refers to the target */
    TIDEMARK_HEAP_ROOT = 1,
    TIDEMARK_HEAP_NATIVE = 2, /* code outside Python, or an expression in progress, retains the first object */
    TIDEMARK_HEAP_CYCLE = 3   /* only a reference cycle retains it */
};

struct tidemark_heap_path {
    int32_t start;        /* tidemark_heap_path_start */
    int32_t root;         /* index among the roots of all calls of this search */
    int32_t variable;     /* index in the root's frame; -1: the root is not a frame */
    int32_t cycle_length; /* the path begins with a cycle of this number of objects; the next object is the first one
                             again */
    int32_t omitted;      /* objects omitted from a long path, after its first TIDEMARK_HEAP_NEAR_ROOT; 0: none */
    int32_t length;       /* objects from the root to the target; a root that is a frame does not count */
};
#define TIDEMARK_HEAP_NEAR_ROOT 16

typedef struct tidemark_heap_scan tidemark_heap_scan;

/* Begins a search, which the caller ends. Returns NULL if out of memory. */
tidemark_heap_scan* tidemark_heap_begin(const struct tidemark_heap_plan* plan);

/* The next three functions return how much is missing, or -1 if out of memory: the number of blocks without a path; if
 * there are no blocks, that of targets without one and of objects that the search has yet to note. A path never changes
 * once it is found. */

/* Searches from the roots until nothing is missing, for at most longest_ns (0: any time). Of several paths, it selects
 * that of the smallest distance; of equally distant ones, that of the earlier root. */
int64_t tidemark_heap_search_from(tidemark_heap_scan* scan, const struct tidemark_heap_root* roots, int64_t count,
                                  int64_t longest_ns);
/* Drops targets that no object of the garbage collector refers to. */
int64_t tidemark_heap_drop_unreferenced(tidemark_heap_scan* scan);
/* Searches among the objects that no root reaches. */
int64_t tidemark_heap_search_unreachable(tidemark_heap_scan* scan);

/* Returns the number of targets: those of the plan, then one for each block found or object noted. */
int64_t tidemark_heap_targets(const tidemark_heap_scan* scan);
/* Returns the path to target number `target` and stores at most `capacity` of its objects, which are alive until the
 * search ends. */
struct tidemark_heap_path tidemark_heap_path_to(const tidemark_heap_scan* scan, int64_t target, uint64_t* objects,
                                                int32_t capacity);

/* Returns the number of objects visited so far. */
int64_t tidemark_heap_objects(const tidemark_heap_scan* scan);

/* Ends the search and releases its objects. */
void tidemark_heap_end(tidemark_heap_scan* scan);

/* Returns the time on the clock of records (recorder/core/ring.h). */
uint64_t tidemark_heap_ticks(void);

/* Returns the time in ns that this thread has run, or has waited for a processor: not for the interpreter lock. */
uint64_t tidemark_heap_runnable_ns(void);

#ifdef __cplusplus
}
#endif
