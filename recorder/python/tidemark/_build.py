"""The plugin's library: finds the one for this very torch, or builds it."""

import concurrent.futures
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


class _Compiler:
    """How this torch's own extensions are compiled. Raises OSError with what is missing."""

    def __init__(self, torch, generated):
        found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        if found is None:
            raise OSError("no C++ compiler was found to build the recorder's plugin; install g++")
        self.command = shlex.split(found)
        self.package = os.path.dirname(os.path.abspath(torch.__file__))
        standard = "c++17" if torch_version(torch) < (2, 12) else "c++20"
        root, self.sources = _sources()
        self.options = [
            f"-std={standard}", "-O2", "-fPIC", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
            "-I", root, "-I", generated, "-isystem", os.path.join(self.package, "include"),
            "-isystem", _cuda_include(torch),
        ]  # fmt: skip
        # Not our environment: what records this program must not record the compiler.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDEMARK_") and k != "PYTHONPATH"}

    def compile(self, source, output):
        return self._run(self.command + self.options + ["-c", source, "-o", output])

    def link(self, objects, output):
        libraries = ["-L", os.path.join(self.package, "lib"), "-lc10", "-lc10_cuda", "-ltorch_cpu"]
        options = ["-shared", "-Wl,--exclude-libs,ALL"]
        return self._run(self.command + options + objects + libraries + _loaded_runtimes() + ["-o", output])

    def _run(self, command):
        """What the compiler complains of; nothing when it worked."""
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        return done.stderr or f"exit status {done.returncode}" if done.returncode != 0 else ""


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
    """Changes with whatever the plugin is built from: torch, its ABI, our sources, how it is built."""
    digest = hashlib.sha256(f"{torch.__version__} {torch.__file__} {torch.compiled_with_cxx11_abi()}".encode())
    root, _ = _sources()
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    for path in sorted(files) + [__file__]:
        with open(path, "rb") as source:
            digest.update(source.read())
    return f"plugin-{torch.__version__}-{digest.hexdigest()[:12]}.so"


def _build(torch, path):
    print(f"tidemark: building the recorder's plugin for torch {torch.__version__} (once)", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        compiler = _Compiler(torch, folder)
        header = os.path.join(compiler.package, "include", "torch", "csrc", "autograd", "generated", "Functions.h")
        with open(os.path.join(folder, "saved_fields.inc"), "w") as file:
            file.write(saved_fields(header))
        objects = [os.path.join(folder, os.path.basename(source) + ".o") for source in compiler.sources]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            complaints = "".join(workers.map(compiler.compile, compiler.sources, objects))
        library = os.path.join(folder, "plugin.so")
        complaints = complaints or compiler.link(objects, library)
        if complaints:
            _explain_failure(torch, complaints, f"{path}.log")
        os.replace(library, path)


def _explain_failure(torch, complaints, log):
    with open(log, "w") as file:
        file.write(complaints)
    raise OSError(
        f"the recorder's plugin could not be built for torch {torch.__version__}; what the compiler said is in {log}"
    )


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
