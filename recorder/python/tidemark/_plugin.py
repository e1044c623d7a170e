"""The plugin inside torch, loaded."""

import ctypes

from tidemark import _build

PLUGIN_VERSION = 2
ALLOCATOR, OPS, GRAPH = 1, 2, 4


class _Tensor(ctypes.Structure):
    """struct tidemark_tensor of recorder/torch/plugin.h."""

    _fields_ = [
        ("node", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("sequence", ctypes.c_uint64),
    ]


class Plugin:
    """The loaded plugin. Raises OSError with a sentence when there can be none. Tensors are given by their _cdata."""

    def __init__(self, torch):
        self._library = ctypes.PyDLL(_build.built_for(torch))
        if self._library.tidemark_plugin_version() != PLUGIN_VERSION:
            raise OSError("the recorder's plugin is of another version; reinstall Tidemark")
        self._sequences = (ctypes.c_uint64 * 64)()
        self.check = self._library.tidemark_plugin_check
        self.detach = self._library.tidemark_plugin_detach
        self.backward_begins = self._library.tidemark_plugin_backward_begins
        self.optimizer = self._library.tidemark_plugin_optimizer
        self.phase = self._library.tidemark_plugin_phase
        self.look_at_watched = self._library.tidemark_plugin_look_at_watched
        self._identify = self._library.tidemark_plugin_identify
        self._identify.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
        self._watch = self._library.tidemark_plugin_watch
        self._watch.argtypes = [ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
        self._library.tidemark_plugin_learn_python_function.argtypes = [ctypes.c_uint64] * 5

    def attach(self, torch, core_table, parts):
        """Listens to ALLOCATOR (once CUDA is initialised), OPS and GRAPH. Raises OSError."""
        if parts & GRAPH:
            self._learn_python_functions(torch)
        error = ctypes.create_string_buffer(512)
        if not self._library.tidemark_plugin_attach(core_table, parts, error, len(error)):
            raise OSError(error.value.decode(errors="replace"))

    def sequences(self):
        """Events so far, per device."""
        count = self._library.tidemark_plugin_sequences(self._sequences, len(self._sequences))
        return self._sequences[:count]

    def identify(self, cdata):
        """(number of the node that made the tensor or 0, address of its memory, events of its device, device)."""
        tensor = _Tensor()
        self._identify(cdata, ctypes.addressof(tensor))
        return tensor.node, tensor.address, tensor.sequence, tensor.device

    def watch(self, cdata, category, name):
        """The tensor is a parameter, buffer or optimizer state: its memory is labelled wherever it moves."""
        self._watch(cdata, category, name.encode(errors="replace"))

    def live_nodes(self):
        """(nodes alive, number of the newest)."""
        alive, newest = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.tidemark_plugin_live_nodes(ctypes.byref(alive), ctypes.byref(newest))
        return alive.value, newest.value

    def _learn_python_functions(self, torch):
        """Shows the plugin one torch.autograd.Function, so that it finds what others save."""

        class Known(torch.autograd.Function):
            @staticmethod
            def forward(ctx, first, second):
                ctx.save_for_backward(first, second)
                return first + second

        with torch.enable_grad(), torch.device("cpu"):
            made = Known.apply(torch.ones(1, requires_grad=True), torch.ones(1))
        ctx = made.grad_fn
        saved = ctx._raw_saved_tensors
        # A pybind object holds the address of what it wraps behind its head.
        first = ctypes.c_uint64.from_address(id(saved[0]) + 2 * ctypes.sizeof(ctypes.c_void_p)).value
        self._library.tidemark_plugin_learn_python_function(
            made._cdata, id(ctx), type(ctx).__basicsize__, first, len(saved)
        )
