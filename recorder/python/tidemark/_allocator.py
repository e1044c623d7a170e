"""What is asked of PyTorch's allocator itself."""


def raise_unless_native(torch):
    """Only the native caching allocator tells its events."""
    backend = torch.cuda.memory.get_allocator_backend()
    if backend != "native":
        raise OSError(f"the allocator in use ({backend}) does not tell its events; Tidemark records the native one")
