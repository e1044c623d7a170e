// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* Messages from the training process to the recorder process: 64-byte records in shared-memory rings.
 *
 * C ABI, shared by all parts of the recorder (plugin, driver part, Python package, recorder process).
 * A message is one record, followed by `extra` records with its payload bytes. Ids of texts, ops, pools and stacks
 * belong to the thread (ring) that defines them; the definition precedes the first use in that ring. Only stacks are
 * used across threads: a backward thread names the forward thread's stack as (serial, id). Messages of different rings
 * are ordered only by `sequence`. Id 0 always means none.
 */
#pragma once

#include <stdint.h>

#define TIDEMARK_RECORDS_VERSION 8u

enum tidemark_kind {
    TIDEMARK_NOTHING = 0,
    TIDEMARK_EVENT = 1, /* allocator event; detail: action, as in vocabulary.h, + TIDEMARK_EVENT_LIGHT;
                           payload: the user's metadata */
    TIDEMARK_TEXT = 2,  /* defines a text id of this thread; payload: UTF-8 */
    TIDEMARK_STACK = 3, /* defines a stack id of this thread; payload: tidemark_frame[], innermost first */
    TIDEMARK_OP = 4,    /* defines an op id of this thread: a name under a parent op; detail: tidemark_scope */
    TIDEMARK_POOL = 5,  /* defines a pool id of this thread */
    TIDEMARK_MODULE =
        6, /* names a module (frames refer to it by address); payload: its path; a later name replaces it */
    TIDEMARK_DEVICE = 7,    /* payload: "name\0pci bus id\0uuid"; detail: tidemark_device_source */
    TIDEMARK_STATE = 8,     /* allocator state at a cut in a device's events; detail: tidemark_state_part */
    TIDEMARK_MARK = 9,      /* payload: uint64_t sequence[devices], then the name */
    TIDEMARK_STEP = 10,     /* a step ended; detail: 0 reported by the optimizer hook, 1 by the user */
    TIDEMARK_SPAN = 11,     /* a named range of this thread; detail: tidemark_span_part */
    TIDEMARK_PHASE = 12,    /* names phase number `id` (>= TIDEMARK_PHASE_FIRST_NAMED); payload: name; all threads */
    TIDEMARK_OOM = 13,      /* from the out-of-memory observers, right after the allocator's own oom event */
    TIDEMARK_DRIVER = 14,   /* driver memory; detail: tidemark_driver_action */
    TIDEMARK_DATA_GAP = 15, /* something cannot be recorded; detail: DataGapKind of vocabulary.h;
                                payload: word of a DataGapReason (facts.h), NUL, details */
    TIDEMARK_META = 16,     /* payload: "key\0value": settings and versions */
    TIDEMARK_END = 17,      /* the program stops recording; detail: tidemark_end; payload: a sentence or nothing */
    TIDEMARK_NODE = 18,     /* an autograd node; payload: tidemark_edge[edges], then tidemark_saved[saved] */
    TIDEMARK_NODE_RUN = 19, /* the engine executed a node; detail: 1 if that released the saved tensors */
    TIDEMARK_NODE_DESTROYED = 20, /* a node was destroyed, with the tensors it still saved */
    TIDEMARK_LABEL = 21,          /* the category of the memory at an address from now on; detail: tidemark_category */
    TIDEMARK_HEAP_SCAN = 22,      /* a scan of the Python heap; its referrers follow; payload: reason */
    TIDEMARK_REFERRER = 23,       /* the retention path of one tensor; payload: per link, root first, five texts that
                                   each end with NUL: kind, name, function, file, line */
    TIDEMARK_COST = 24,           /* time that the recording took from this thread; detail: tidemark_cost_kind */
    TIDEMARK_NO_ALLOCATOR = 25,   /* PyTorch's allocator reports no events: driver allocations are those of devices */
    TIDEMARK_RANK = 27,           /* the program's own rank in its job, where no launcher told it */
    TIDEMARK_JUMP = 26            /* the next record is not in the next slot (ring.h) */
};

/* In a detail of TIDEMARK_EVENT: belongs to a light step. Stack, op and phase are those of the event that it repeats,
 * and the program sends no nodes and labels for its memory. */
#define TIDEMARK_EVENT_LIGHT 0x80

enum tidemark_span_part {
    TIDEMARK_SPAN_BEGINS = 0,
    TIDEMARK_SPAN_ENDS = 1,           /* the innermost open one */
    TIDEMARK_SPAN_OF_RANKS_BEGINS = 2 /* in it, this rank waits for all others */
};

enum tidemark_scope { TIDEMARK_SCOPE_OP = 0, TIDEMARK_SCOPE_NODE = 1, TIDEMARK_SCOPE_USER = 2 };

/* Phases of the run at an event. */
enum tidemark_phase {
    TIDEMARK_PHASE_NONE = 0,
    TIDEMARK_PHASE_FORWARD = 1,
    TIDEMARK_PHASE_BACKWARD = 2,
    TIDEMARK_PHASE_OPTIMIZER = 3,
    TIDEMARK_PHASE_EVAL = 4,
    TIDEMARK_PHASE_FIRST_NAMED = 16 /* named by the user: TIDEMARK_PHASE has the name */
};

/* A state is a sequence of BEGIN, its segments and blocks, and END, from one thread and for one device. */
enum tidemark_state_part {
    TIDEMARK_STATE_BEGIN = 0,   /* sequence: events before the cut; flags: tidemark_state_purpose */
    TIDEMARK_STATE_SEGMENT = 1, /* address, size, stream, pool, flags: tidemark_segment_flags */
    TIDEMARK_STATE_BLOCK = 2,   /* address, size, requested; flags: tidemark_block_flags; never of free blocks */
    TIDEMARK_STATE_END = 3
};
enum tidemark_state_purpose {
    TIDEMARK_STATE_START = 0, /* the state before event 0; always sent, even if empty */
    TIDEMARK_STATE_CHECK = 1  /* the state that the replay must reach after `sequence` events */
};
enum tidemark_segment_flags { TIDEMARK_SEGMENT_LARGE = 1, TIDEMARK_SEGMENT_EXPANDABLE = 2 };
enum tidemark_block_flags { TIDEMARK_BLOCK_ALLOCATED = 1, TIDEMARK_BLOCK_PENDING = 2 };

enum tidemark_device_source {
    TIDEMARK_DEVICE_FROM_PYTORCH = 0, /* PyTorch has initialized CUDA */
    TIDEMARK_DEVICE_FROM_DRIVER = 1
};

enum tidemark_driver_action {
    TIDEMARK_DRIVER_ALLOC = 0,
    TIDEMARK_DRIVER_FREE = 1, /* address and memory as in the alloc; size may be 0 */
    TIDEMARK_DRIVER_CONTEXT_CREATED = 2,
    TIDEMARK_DRIVER_CONTEXT_DESTROYED = 3,
    TIDEMARK_DRIVER_MODULE_LOADED = 4, /* the device loaded kernels, which may take memory */
    TIDEMARK_DRIVER_CAPTURE_ON = 5,    /* driver calls are recorded from here on */
    TIDEMARK_DRIVER_CAPTURE_OFF = 6    /* driver calls are no longer recorded: another tool uses CUPTI */
};
/* Where no caching allocator reports its events, an allocation of device memory is two events (segment_alloc, alloc)
 * and its free three (free_requested, free_completed, segment_free). Their numbers follow each other. */
#define TIDEMARK_EVENTS_OF_DRIVER_ALLOC 2
#define TIDEMARK_EVENTS_OF_DRIVER_FREE 3
/* Bit of a stack id: its frames are native. function: 0, file: path of the object, module: offset in its file. */
#define TIDEMARK_NATIVE_STACK 2147483648u

enum tidemark_memory {
    TIDEMARK_MEMORY_DEVICE = 0,   /* cudaMalloc and cuMemAlloc */
    TIDEMARK_MEMORY_ASYNC = 1,    /* cudaMallocAsync: part of a driver pool */
    TIDEMARK_MEMORY_POOL = 2,     /* memory of a driver pool; size: its change where known */
    TIDEMARK_MEMORY_PHYSICAL = 3, /* cuMemCreate; address: the handle */
    TIDEMARK_MEMORY_MAPPED = 4,   /* cuMemMap; address: virtual; handle: of the physical memory. Takes no memory */
    TIDEMARK_MEMORY_PINNED = 5,   /* host memory */
    TIDEMARK_MEMORY_MANAGED = 6,
    TIDEMARK_MEMORY_ARRAY = 7
};

enum tidemark_end {
    TIDEMARK_END_STOPPED = 0,   /* tidemark.stop(), or the end of `with tidemark.record()` */
    TIDEMARK_END_EXITED = 1,    /* the interpreter shut down */
    TIDEMARK_END_EXCEPTION = 2, /* the interpreter shut down after an uncaught exception; payload: its last line */
    TIDEMARK_END_INTERRUPTED = 3
};

enum tidemark_node_flags {
    TIDEMARK_NODE_ACCUMULATES = 1, /* AccumulateGrad: `number` is the identity of its variable, `address` its memory */
    TIDEMARK_NODE_LATE = 2         /* found some time after its creation, which may be before the recording */
};
enum tidemark_saved_flags {
    TIDEMARK_SAVED_VIEW = 1,  /* covers only a part of the memory */
    TIDEMARK_SAVED_PACKED = 2 /* saved_tensors_hooks replaced it: address and bytes are 0 */
};

enum tidemark_category {
    TIDEMARK_CATEGORY_NONE = 0, /* removes the category set before */
    TIDEMARK_CATEGORY_PARAMETER = 1,
    TIDEMARK_CATEGORY_BUFFER = 2,
    TIDEMARK_CATEGORY_GRADIENT = 3,
    TIDEMARK_CATEGORY_OPTIMIZER_STATE = 4,
    TIDEMARK_CATEGORY_INPUT = 5,     /* created outside every module's call and by no node */
    TIDEMARK_CATEGORY_OUTPUT = 6,    /* an op's result that no node created */
    TIDEMARK_CATEGORY_WORKSPACE = 7, /* allocated inside an op, outlived it, and is no result of it */
    TIDEMARK_CATEGORY_COMMUNICATION = 8
};

enum tidemark_cost_kind {
    TIDEMARK_COST_CALLBACKS = 0, /* in the recorder's callbacks since the thread's last such record, extrapolated */
    TIDEMARK_COST_PAUSE = 1,     /* in the recorder's Python code, without heap scans */
    TIDEMARK_COST_WAIT = 2       /* waiting for the recorder process: a full ring, an NVML sample */
};

/* The memory of a tensor is identified by the address of its storage and by the number of events of its device at that
 * time. Together they identify the allocation that had the address at that time. device 255: not GPU memory. */
#define TIDEMARK_NO_DEVICE 255

struct tidemark_edge {
    uint32_t node;  /* id of the node that receives this input's gradient */
    uint16_t slot;  /* position among the node's inputs; slots without a node are left out */
    uint16_t input; /* index of that node's output */
};

struct tidemark_saved {
    uint64_t address; /* of the storage */
    uint64_t offset;  /* bytes from there to the tensor's first element */
    uint64_t bytes;   /* of the tensor: elements times their size */
    uint32_t name;    /* text id: "self", "result", "saved[0]" */
    uint16_t version; /* of the tensor when it was saved, at most 65535 */
    uint8_t device;
    uint8_t flags; /* tidemark_saved_flags */
};

struct tidemark_frame {
    uint32_t function, file; /* text ids of the same thread */
    uint32_t line;
    uint32_t reserved;
    uint64_t module; /* address of the torch.nn.Module that this frame calls, else 0; native: TIDEMARK_NATIVE_STACK */
};

struct tidemark_record {
    uint8_t kind; /* tidemark_kind */
    uint8_t detail;
    uint16_t extra; /* payload records that follow */
    uint32_t bytes; /* payload bytes in them */
    uint64_t ticks; /* tidemark_ticks() */
    union {
        struct {
            uint64_t sequence; /* per device from 0, without gaps: the order of a device's events */
            uint64_t address;  /* oom: bytes free on the device */
            uint64_t size;     /* as in TraceEntry: requested for alloc and free, real for segments */
            uint64_t stream;
            uint32_t stack;        /* id in the namespace of stack_thread */
            uint32_t op;           /* innermost op of this thread */
            uint16_t stack_thread; /* serial of the ring that defined the stack; 0: this one */
            uint16_t pool;         /* of this thread; 0: the default pool {0, 0}, or unknown before torch 2.8 */
            uint8_t device;
            uint8_t phase;
            uint16_t context; /* text id: compile context */
        } event;
        struct {
            uint32_t id;
            uint32_t parent; /* op */
            uint32_t text;   /* op: name */
            uint32_t reserved;
            int64_t owner[2]; /* pool */
            uint64_t address; /* module */
        } define;
        struct {
            uint64_t total_bytes;
            uint32_t device;
        } device;
        struct {
            uint64_t sequence;
            uint64_t address;
            uint64_t size;
            uint64_t requested;
            uint64_t stream;
            uint16_t pool;
            uint8_t device;
            uint8_t flags;
            uint32_t reserved;
        } state;
        struct {
            double value;
            uint32_t has_value;
            uint32_t devices;
        } mark;
        struct {
            uint64_t number;
        } step;
        struct {
            uint64_t rank;  /* from 0 */
            uint64_t ranks; /* of the job */
        } rank;
        struct {
            uint64_t slots; /* to the next record */
        } jump;
        struct {
            uint32_t text;
            uint32_t device;
        } span;
        struct {
            uint64_t asked;
            uint64_t total; /* of the device, or the limit set for the process */
            uint64_t free;
            uint32_t device;
            uint32_t sampled; /* 1: the recorder took an NVML sample before the program continued */
        } oom;
        struct {
            uint64_t sequence; /* of its first event, if `events` is not 0 */
            uint64_t address;
            uint64_t size;
            uint64_t handle; /* mapped: of the physical memory. array, physical: an address of their own for events */
            uint32_t stack;
            uint32_t op;
            uint16_t source; /* text id: the shared object that called the driver */
            uint16_t stack_thread;
            uint8_t device;
            uint8_t memory; /* tidemark_memory */
            uint8_t phase;
            uint8_t events; /* number of events from `sequence` on; 0: none */
        } driver;
        struct {
            uint64_t number;   /* autograd's sequence number on the thread that created it */
            uint64_t address;  /* memory that its op allocated for its first output; 0: none (views, in-place ops) */
            uint64_t sequence; /* events of `device` when the node was found; also applies to what it saved */
            uint32_t id;       /* unique in the process, never reused */
            uint32_t type;     /* text id: "MulBackward0" */
            uint32_t stack;    /* of the forward op, in the namespace of stack_thread */
            uint32_t op;       /* innermost op of this thread */
            uint16_t stack_thread;
            uint16_t edges, saved; /* lengths of the payload's parts */
            uint8_t device;
            uint8_t flags; /* tidemark_node_flags */
        } node;
        struct {
            uint64_t reserved;
            uint64_t address; /* AccumulateGrad: memory of its variable's gradient after the execution */
            uint64_t sequence;
            uint32_t id;
            uint8_t device;
        } node_run;
        struct {
            uint32_t id;
        } node_destroyed;
        struct {
            uint64_t address; /* 0: the label only names the identity */
            uint64_t sequence;
            uint64_t identity; /* of the tensor, by which AccumulateGrad nodes find the names of their variables */
            uint32_t name;     /* text id: "transformer.h.0.attn.weight" */
            uint8_t device;
        } label;
        struct {
            uint64_t duration_ns;
            uint64_t longest_ns; /* of one part: other threads run between two parts */
            uint64_t objects;    /* visited */
            uint64_t tensors;    /* searched for */
        } heap_scan;
        struct {
            uint64_t address; /* the tensor's memory; 0: none on a GPU */
            uint64_t sequence;
            uint32_t node; /* id of the node that created the tensor, the root of a graph; 0: none */
            uint8_t device;
        } referrer;
        struct {
            uint64_t duration_ns; /* of all together */
            uint64_t longest_ns;
            uint64_t count;
        } cost;
        uint8_t raw[48];
    };
};

#if defined(__cplusplus)
static_assert(sizeof(tidemark_record) == 64, "one cache line");
static_assert(sizeof(tidemark_frame) == 24, "as written by every producer");
static_assert(sizeof(tidemark_edge) == 8 && sizeof(tidemark_saved) == 32, "as written by every producer");
#endif
