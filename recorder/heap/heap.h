/* Searches the Python heap for chains of references that lead to given objects; C ABI, called by the Python package.
 *
 * Objects are asked for what they refer to just as the garbage collector asks them (tp_traverse). No reference count
 * changes during a search; what it found is then kept alive until the search ends, so that it can be named. Everything
 * here is called with the interpreter's lock and allocates memory of its own only. Objects are given as id().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What Python knows for certain, to prove the layouts with. */
struct tidemark_heap_known {
    uint64_t list, list_type; /* a list, and `list` */
    const uint64_t* items;
    uint64_t item_count;
    uint64_t some_class; /* a class made in Python */
    uint64_t frame;      /* of the caller */
    const uint64_t* variables;
    uint64_t variable_count; /* its first variables; they have values */
    uint64_t get_objects;    /* gc.get_objects, which is called from now on */
};

/* 1: the heap can be searched. 0: not; `error` holds a sentence. */
int tidemark_heap_prepare(int major, int minor, const struct tidemark_heap_known* known, char* error,
                          size_t error_size);

/* Appends to lists[i] the objects whose type is types[i] or derived from it, each to the first that fits. */
void tidemark_heap_instances(const uint64_t* types, const uint64_t* lists, int32_t count);

/* Objects that the first `count` variables of a frame stand for; 0: none. To compare only: nothing keeps them alive. */
void tidemark_heap_variables(uint64_t frame, uint64_t* objects, int32_t count);

/* Where a search begins: an object, or what the variables of a frame stand for. */
struct tidemark_heap_root {
    uint64_t object;
    int64_t variables; /* -1: the object itself; else it is a frame with as many variables */
};

enum tidemark_heap_origin {
    TIDEMARK_HEAP_UNKNOWN = 0, /* nothing in Python refers to the target */
    TIDEMARK_HEAP_ROOT = 1,
    TIDEMARK_HEAP_OUTSIDE = 2, /* the first object is kept from outside Python, or by an expression in progress */
    TIDEMARK_HEAP_CYCLE = 3    /* only a cycle of references keeps it */
};

struct tidemark_heap_chain {
    int32_t origin;
    int32_t root;     /* number among the roots of all calls of this search */
    int32_t variable; /* of the root's frame; -1: the root is no frame */
    int32_t cycle;    /* the first so many objects are a cycle; the next is its first again */
    int32_t left_out; /* so many of a long chain, behind its first TIDEMARK_HEAP_NEAR_ROOT (0: none) */
    int32_t objects;  /* from the root to the target; a root that is a frame is none of them */
};
#define TIDEMARK_HEAP_NEAR_ROOT 16

typedef struct tidemark_heap_scan tidemark_heap_scan;

/* `barriers` are not entered unless they are roots. NULL: no memory. */
tidemark_heap_scan* tidemark_heap_begin(const uint64_t* targets, int64_t target_count, const uint64_t* barriers,
                                          int64_t barrier_count);

/* The next three return how many targets are still without a chain, or -1: no memory. A chain, once found, stays. */

/* Breadth first: of several chains the shortest, then that of the earlier root. */
int64_t tidemark_heap_from(tidemark_heap_scan* search, const struct tidemark_heap_root* roots, int64_t count);
/* Gives up targets that none of the objects that the collector knows refers to. */
int64_t tidemark_heap_give_up(tidemark_heap_scan* search);
/* Chains within what no root leads to. */
int64_t tidemark_heap_leftovers(tidemark_heap_scan* search);

/* Of target number `target`; stores at most `capacity` of its objects. They live until the search ends. */
struct tidemark_heap_chain tidemark_heap_chain_of(const tidemark_heap_scan* search, int64_t target, uint64_t* objects,
                                                  int32_t capacity);

/* Objects looked at so far. */
int64_t tidemark_heap_objects(const tidemark_heap_scan* search);

void tidemark_heap_end(tidemark_heap_scan* search);

/* The clock of records (recorder/core/ring.h). */
uint64_t tidemark_heap_ticks(void);

#ifdef __cplusplus
}
#endif
