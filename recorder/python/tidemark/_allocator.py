"""What is asked of PyTorch's allocator itself: which one it is, and how it is set."""

import json


def raise_unless_native(torch):
    """Only the native caching allocator tells its events."""
    backend = torch.cuda.memory.get_allocator_backend()
    if backend != "native":
        raise OSError(f"the allocator in use ({backend}) does not tell its events; Tidemark records the native one")


def settings(torch):
    """(key, JSON text) of each setting, as a snapshot names them."""
    if torch.cuda.memory.get_allocator_backend() != "native":
        return []
    try:
        found = torch._C._cuda_memorySnapshot(None)
    except (TypeError, RuntimeError):
        return []
    return [(key, json.dumps(value)) for key, value in found.get("allocator_settings", {}).items()]
