"""Who holds tensors: searches the Python heap for what leads to them and tells the recorder the chains it found.

The program stands still during the search itself, and in the thread that asked until all is told.
"""

import time

from tidemark import _chains, _labels, _links, _records, _roots

MOST_TENSORS = 20_000
NO_DEVICE = 255


def find(heap, targets, contexts=(), traceback=None):
    """Links per target (None: nothing in Python refers to it), and how many objects were looked at.

    `contexts`: those of autograd functions, which only C++ refers to. The list `targets` is emptied as soon as the
    search knows them, so that what the program drops from then on goes and no list of ours is a holder."""
    count = len(targets)
    with heap.search(targets, _roots.barriers()) as search:
        targets.clear()
        roots = _look_everywhere(search, contexts, traceback)
        places = _links.Places(heap)
        chains = (search.chain(number) for number in range(count))
        named = [chain and _chains.links(places, chain, roots) for chain in chains]
        return named, search.objects()


def _look_everywhere(search, contexts, traceback):
    """Best names first, until all targets are reached or nothing is left. Returns the roots it began from."""
    roots = []
    for stage in (lambda: _roots.nearest(traceback), lambda: _roots.of_contexts(contexts), _roots.furthest):
        found = stage()
        missing = search.roots([(root.object, root.variables()) for root in found])
        if missing and not roots:
            missing = search.give_up()
        roots += found
        if not missing:
            return roots
    search.leftovers()
    return roots


class Referrers:
    """Scans for one recording; one at a time."""

    def __init__(self, torch, plugin, core, heap, labels):
        self._torch = torch
        self._plugin = plugin
        self._core = core
        self._heap = heap
        self._labels = labels
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__

    def scan(self, reason, traceback=None):
        """Tells who holds every tensor on a GPU and every tensor that a recorded node made, but those with a label.

        `traceback`: of an exception; the variables of its frames are looked at, too."""
        began = time.perf_counter_ns()
        parts = self._torch._C
        tensors, modules, contexts = self._heap.instances(parts.TensorBase, self._torch.nn.Module, parts._FunctionBase)
        self._labels.look_at_modules(modules)
        tensors, places = self._targets(tensors)
        found, looked_at = find(self._heap, tensors, contexts, traceback)
        self._core.push(_records.heap_scan(reason, time.perf_counter_ns() - began, looked_at, len(places)))
        for place, links in zip(places, found):
            # Of what only C++ keeps, the graph's alone: of the rest that says nothing new.
            if links or place[0] != 0:
                self._core.push(_records.referrer(place, links or [_links.Link("native", "")]))
        if len(places) == MOST_TENSORS:
            self._core.push(_records.loss("referrers_failed", f"a scan follows at most {MOST_TENSORS} tensors"))

    def _targets(self, all_tensors):
        """Those to look for, and of each what the plugin knows: (node, address, sequence, device)."""
        tensors, places = [], []
        with self._torch._C.DisableTorchFunction():
            while all_tensors:
                tensor = all_tensors.pop()
                if tensor not in self._labels and _labels.has_memory(tensor):
                    place = self._plugin.identify(self._cdata(tensor))
                    if place[0] != 0 or place[3] != NO_DEVICE:
                        tensors.append(tensor)
                        places.append(place)
                        if len(places) == MOST_TENSORS:
                            all_tensors.clear()
        return tensors, places
