"""The plugin inside torch: finds it, or builds it for this very torch, and loads it."""

import ctypes
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys

from tidemark import _core

KNOWN_TORCH = [(2, minor) for minor in range(4, 16)]
PLUGIN_VERSION = 1


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


def _command(torch, output):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise OSError("no C++ compiler was found to build the recorder's plugin; install g++")
    root, sources = _sources()
    package = os.path.dirname(os.path.abspath(torch.__file__))
    standard = "c++17" if torch_version(torch) < (2, 12) else "c++20"
    command = shlex.split(compiler) + [
        f"-std={standard}", "-O2", "-shared", "-fPIC", "-w", "-Wl,--exclude-libs,ALL",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        "-I", root, "-isystem", os.path.join(package, "include"), "-isystem", _cuda_include(torch),
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
    done = subprocess.run(_command(torch, part), capture_output=True, text=True, env=environment)
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


class Plugin:
    """The loaded plugin. Raises OSError with a sentence when there can be none."""

    def __init__(self, torch, core_table, ops):
        self._library = ctypes.PyDLL(built_for(torch))
        if self._library.tidemark_plugin_version() != PLUGIN_VERSION:
            raise OSError("the recorder's plugin is of another version; reinstall Tidemark")
        error = ctypes.create_string_buffer(512)
        if not self._library.tidemark_plugin_attach(core_table, int(ops), error, len(error)):
            raise OSError(error.value.decode(errors="replace"))
        self._sequences = (ctypes.c_uint64 * 64)()
        self.check = self._library.tidemark_plugin_check
        self.detach = self._library.tidemark_plugin_detach
        self.backward_begins = self._library.tidemark_plugin_backward_begins
        self.optimizer = self._library.tidemark_plugin_optimizer
        self.phase = self._library.tidemark_plugin_phase

    def sequences(self):
        """Events so far, per device."""
        count = self._library.tidemark_plugin_sequences(self._sequences, len(self._sequences))
        return self._sequences[:count]
