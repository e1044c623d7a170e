"""The CUDA runtime that PyTorch has loaded, for allocations outside PyTorch."""

import ctypes


def path():
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libcudart" in line}
    return min(paths, key=lambda path: ("/nvidia/" not in path, path))


def allocate(runtime, size):
    """Calls cudaMalloc; the memory is never freed."""
    pointer = ctypes.c_void_p()
    status = runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))
    if status != 0:
        raise RuntimeError(f"cudaMalloc of {size} bytes: error {status}")
    return pointer
