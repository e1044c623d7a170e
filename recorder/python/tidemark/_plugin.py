"""The plugin inside torch: finds it, or builds it for this very torch, and loads it."""

import ctypes
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from tidemark import _core

KNOWN_TORCH = [(2, minor) for minor in range(4, 16)]
PLUGIN_VERSION = 2
ALLOCATOR, OPS, GRAPH = 1, 2, 4


def _sources():
    root = os.path.join(_core.home(), "plugin")
    folder = os.path.join(root, "recorder", "torch")
    return root, sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cpp"))


def _cuda_include(torch):
    """torch's CUDA headers include the toolkit's: from the toolkit, or from the wheels torch brought."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    major = (torch.version.cuda or "").split(".")[0]
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    wheels = [os.path.join(site, "nvidia", folder) for folder in (f"cu{major}", "cuda_runtime")]
    needed = ("cuda_runtime_api.h", "crt/host_config.h")
    for root in filter(None, toolkits + wheels):
        folder = os.path.join(root, "include")
        if all(os.path.exists(os.path.join(folder, header)) for header in needed):
            return folder
    raise OSError(
        "the CUDA headers that torch's own headers need are missing; install the CUDA Toolkit and set CUDA_HOME"
        + (", or `pip install nvidia-cuda-crt`" if major == "13" else "")
    )


def saved_fields(functions_header):
    """Where torch's generated node classes keep saved tensors, as lines for saved_variables.cpp."""
    with open(functions_header) as file:
        parts = re.split(r"^struct TORCH_API (\w+) : public \w+ \{", file.read(), flags=re.MULTILINE)
    lines = []
    for node_class, body in zip(parts[1::2], parts[2::2]):
        for kind, field in re.findall(r"^  (?:::)?(std::vector<SavedVariable>|SavedVariable) (\w+);", body, re.MULTILINE):
            macro = "ONE" if kind == "SavedVariable" else "LIST"
            lines.append(f'{macro}({node_class}, {field}, "{field.rstrip("_")}")\n')
    return "".join(lines)


def _command(torch, output, generated):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise OSError("no C++ compiler was found to build the recorder's plugin; install g++")
    root, sources = _sources()
    package = os.path.dirname(os.path.abspath(torch.__file__))
    standard = "c++17" if torch_version(torch) < (2, 12) else "c++20"
    command = shlex.split(compiler) + [
        f"-std={standard}", "-O2", "-shared", "-fPIC", "-w", "-Wl,--exclude-libs,ALL",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        "-I", root, "-I", generated, "-isystem", os.path.join(package, "include"), "-isystem", _cuda_include(torch),
    ]  # fmt: skip
    command += sources
    command += ["-L", os.path.join(package, "lib"), "-lc10", "-lc10_cuda", "-ltorch_cpu"]
    return command + _loaded_runtimes() + ["-o", output]


def _loaded_runtimes():
    """The C++ runtime that torch has loaded. Some compilers link one of their own in, through which torch's exceptions
    cannot be caught."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    names = ("libstdc++.so.6", "libgcc_s.so.1")
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


def torch_version(torch):
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


def _cache_folder():
    base = os.environ.get("TIDEMARK_CACHE") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "tidemark")


def _name(torch):
    """Changes with whatever the plugin is built from: torch, its ABI, our sources."""
    digest = hashlib.sha256(f"{torch.__version__} {torch.__file__} {torch.compiled_with_cxx11_abi()}".encode())
    root, _ = _sources()
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as source:
                digest.update(source.read())
    return f"plugin-{torch.__version__}-{digest.hexdigest()[:12]}.so"


def _build(torch, path):
    part = f"{path}.{os.getpid()}.part"
    print(f"tidemark: building the recorder's plugin for torch {torch.__version__} (once)", file=sys.stderr, flush=True)
    # Not our environment: what records this program must not record the compiler.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDEMARK_") and k != "PYTHONPATH"}
    package = os.path.dirname(os.path.abspath(torch.__file__))
    header = os.path.join(package, "include", "torch", "csrc", "autograd", "generated", "Functions.h")
    with tempfile.TemporaryDirectory() as generated:
        with open(os.path.join(generated, "saved_fields.inc"), "w") as file:
            file.write(saved_fields(header))
        done = subprocess.run(_command(torch, part, generated), capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        log = f"{path}.log"
        with open(log, "w") as file:
            file.write(done.stderr)
        raise OSError(f"the recorder's plugin could not be built for torch {torch.__version__}; what the compiler said is in {log}")
    os.replace(part, path)


def built_for(torch):
    """Path of the plugin for this torch, built if need be. Raises OSError with a sentence."""
    if torch_version(torch) not in KNOWN_TORCH:
        raise OSError(
            f"torch {torch.__version__} is not known to this version of Tidemark (2.4 to 2.15 are); update Tidemark"
        )
    folder = _cache_folder()
    path = os.path.join(folder, _name(torch))
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "lock"), "w") as lock:  # several ranks start at once
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(path):
                _build(torch, path)
    return path


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
        self._library = ctypes.PyDLL(built_for(torch))
        if self._library.tidemark_plugin_version() != PLUGIN_VERSION:
            raise OSError("the recorder's plugin is of another version; reinstall Tidemark")
        self._sequences = (ctypes.c_uint64 * 64)()
        self._tensor = _Tensor()
        self._alive, self._newest = ctypes.c_uint64(), ctypes.c_uint64()
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
        tensor = self._tensor
        self._identify(cdata, ctypes.addressof(tensor))
        return tensor.node, tensor.address, tensor.sequence, tensor.device

    def watch(self, cdata, category, name):
        """The tensor is a parameter, buffer or optimizer state: its memory is labelled wherever it moves."""
        self._watch(cdata, category, name.encode(errors="replace"))

    def live_nodes(self):
        """(nodes alive, number of the newest)."""
        self._library.tidemark_plugin_live_nodes(ctypes.byref(self._alive), ctypes.byref(self._newest))
        return self._alive.value, self._newest.value

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
