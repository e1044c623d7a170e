# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Reads traces through libtidemark_reader.so, which computes every number. Imports nothing but the standard library."""

from __future__ import annotations

import ctypes
import functools
import os
import weakref
from typing import Any, NoReturn

import tidemark._abi as _abi
from tidemark import _core

_LONGEST_ERROR = 8192
_ALL_DEVICES = -1
_PREVIEWED_ROWS = 10


class TraceError(Exception):
    """A trace cannot be read, or it does not have what was asked for. The text is one sentence with the cause."""

    __module__ = "tidemark"  # where users find it; tracebacks print it


@functools.cache
def _library() -> Any:
    """Loads the library. Raises OSError if it is missing or another user could change it."""
    return _core.declare(ctypes.CDLL(_core.part("libtidemark_reader.so")), _abi.READER_FUNCTIONS)


@functools.cache
def _new_capsule() -> Any:
    """Returns Python's PyCapsule_New(). Its arguments are addresses: the capsule outlives objects of this module."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return prototype(("PyCapsule_New", ctypes.pythonapi))


def _made(function: Any, *arguments: Any) -> int:
    """Calls a function that makes an object. Raises TraceError with its sentence."""
    error = ctypes.create_string_buffer(_LONGEST_ERROR)
    made: int | None = function(*arguments, error, len(error))
    if not made:
        raise TraceError(error.value.decode(errors="replace"))
    return made


def _text(made: int | None) -> str:
    """Returns the content of a text of the library, and closes it."""
    if not made:
        raise MemoryError
    try:
        chars: bytes = _library().tidemark_text_chars(made)
        return chars.decode(errors="replace")
    finally:
        _library().tidemark_text_close(made)


class Table:
    """Rows of a trace in Arrow's memory layout. Immutable; any thread may use it.

    pandas, polars, pyarrow, DuckDB and others take the rows through Arrow's PyCapsule interface, without a copy:

        pyarrow.table(table)
        polars.DataFrame(table)
        duckdb.sql("SELECT site, sum(bytes) FROM table GROUP BY site")
        table.to_pandas()

    Texts that many rows have are dictionaries: categories in pandas, enums in DuckDB.
    """

    def __init__(self, handle: int) -> None:
        """handle: a tidemark_table, which this object closes."""
        self._handle = handle
        weakref.finalize(self, _library().tidemark_table_close, handle)

    def __reduce__(self) -> NoReturn:
        """Refuses copies and pickles: the rows belong to a library of this process."""
        raise TypeError(
            "A tidemark.Table cannot be copied or pickled. Pass on its run, or its rows: table.to_pandas(), "
            "pyarrow.table(table)."
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a capsule with an ArrowArrayStream of the rows. Each call returns a new one. The interface allows to
        ignore `requested_schema`."""
        library = _library()
        stream = library.tidemark_table_stream(self._handle)
        if not stream:
            raise MemoryError
        end = ctypes.cast(library.tidemark_stream_end, ctypes.c_void_p)
        return _new_capsule()(stream, library.tidemark_stream_name(), end)

    @functools.cached_property
    def schema(self) -> dict[str, str]:
        """The columns in their order, with their types: "bool", "int32", "int64", "timestamp" or "string"."""
        words = _text(_library().tidemark_table_columns(self._handle)).split()
        return dict(zip(words[::2], words[1::2]))

    def __len__(self) -> int:
        """Returns the number of rows."""
        rows: int = _library().tidemark_table_rows(self._handle)
        return rows

    def __repr__(self) -> str:
        return f"<tidemark.Table: {len(self)} rows of {', '.join(self.schema)}>"

    def _repr_html_(self) -> str | None:
        """Returns the first rows for notebooks; None, without pandas and pyarrow: they show __repr__()."""
        import html

        try:
            import pyarrow

            first: str = pyarrow.table(self).slice(0, _PREVIEWED_ROWS).to_pandas().to_html()
        except ImportError:
            return None
        return f"{first}<p>{html.escape(repr(self))}</p>"

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame. Requires pandas and pyarrow: raises ImportError without them."""
        import pyarrow

        return pyarrow.table(self).to_pandas()


class State:
    """What a trace has in memory at one point in time. `Run.at()` returns it."""

    def __init__(self, run: Run, at: str, device: int | None) -> None:
        self._run, self._at, self._device = run, at, device
        self.text: str = run._points(at, device)
        """The point in time of each device: "event 1,234 of 607,632, 12.345678 s"."""

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self._run, self._at, self._device)

    def __repr__(self) -> str:
        return f"<tidemark.State: {'; '.join(self.text.splitlines())}>"

    @functools.cached_property
    def allocations(self) -> Table:
        """The active allocations, one per row. The sum of `bytes` is active_bytes of torch.cuda.memory_stats().

        device, allocation (its id), address, bytes (of the block), requested_bytes, pending_free, alloc_time_ns,
        free_time_ns, site, module, op, phase, category, stack
        """
        return self._run._table("active", self._device, self._at)

    @functools.cached_property
    def breakdown(self) -> Table:
        """The components of memory, as `Run.breakdown()`."""
        return self._run.breakdown(self._at, self._device)

    def top(self, by: str = "stack") -> Table:
        """Returns the active allocations in groups, as `Run.top()`."""
        return self._run.top(self._at, by, self._device)


class Run:
    """A trace. `tidemark.open()` returns it. Immutable; any thread may use it, and other threads run meanwhile.

    Bytes are those of the allocator's blocks. Times in `_ns` are nanoseconds since the start of the trace. A missing
    value is null. docs/PYTHON.md and docs/FLEET.md describe the columns of the tables.

    A point in time is text, as in `tidemark --at`: "peak" (most allocated bytes), "end", "event:N" (after N events),
    "time:1.5s", "mark:NAME", "step:N" (its end), "step:N:peak". device: PyTorch's index; None: every device.

    All methods and properties raise TraceError if the trace does not have what was asked for.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use tidemark.open()."""
        self.path: str = os.fspath(path)
        """The trace, as it was given."""
        self._absolute_path = os.path.abspath(path)
        self._handle = _made(_library().tidemark_run_open, os.fsencode(path))
        weakref.finalize(self, _library().tidemark_run_close, self._handle)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and unpickled runs open the trace again, also in another working directory."""
        return Run, (self._absolute_path,)

    def __repr__(self) -> str:
        return f"<tidemark.Run: {self.path}>"

    def _repr_html_(self) -> str:
        """Returns the explanation with its plots, for notebooks."""
        return self.explain("fragment")

    def _table(self, name: str, device: int | None = None, at: str | None = None, by: str | None = None) -> Table:
        arguments = (name.encode(), _number(device), _encoded(at), _encoded(by))
        return Table(_made(_library().tidemark_run_table, self._handle, *arguments))

    def _points(self, at: str, device: int | None) -> str:
        return _text(_made(_library().tidemark_run_points, self._handle, _number(device), _encoded(at))).rstrip("\n")

    @functools.cached_property
    def devices(self) -> Table:
        """The devices, one per row: names, sizes, highest and last counters, the process and how it ended. The table
        `runs` of docs/FLEET.md."""
        return self._table("runs")

    @functools.cached_property
    def events(self) -> Table:
        """The events of the allocator, one per row, in their order. Steps that repeat an earlier one and whose events
        were not written are not among them.

        device, event (the N of "event:N": the state after it), time_ns, action (as in PyTorch: "alloc",
        "free_requested", ...), allocation (its id), address, bytes (of the block or segment), allocated_bytes,
        active_bytes and reserved_bytes (after the event), stack (that allocated or freed)
        """
        return self._table("events")

    @functools.cached_property
    def allocations(self) -> Table:
        """All allocations, one per row: bytes, lifetime, site, module, op, phase, categories, stack. The table
        `allocations` of docs/FLEET.md."""
        return self._table("allocations")

    @functools.cached_property
    def sites(self) -> Table:
        """The lines that allocate, per module, with their bytes at the peak, at the end and in total."""
        return self._table("sites")

    @functools.cached_property
    def steps(self) -> Table:
        """The training steps, or otherwise iterations: begin, duration, highest and last allocated bytes, growth."""
        return self._table("steps")

    def findings(self, device: int | None = None) -> Table:
        """Returns the findings, the most serious first. `explain("json")` has their evidence, paths and fixes."""
        return self._table("findings", device)

    def breakdown(self, at: str | None = None, device: int | None = None) -> Table:
        """Returns the components of memory at a point in time, up to the total in nvidia-smi; None: at the peak and at
        the end. The bytes of a device and point add up to the total."""
        return self._table("breakdown", device, at)

    def at(self, point: str, device: int | None = None) -> State:
        """Returns the state of memory at a point in time."""
        return State(self, point, device)

    def top(self, at: str = "peak", by: str = "stack", device: int | None = None) -> Table:
        """Returns what is active at a point in time in groups, most bytes first, as `tidemark top`.

        by: stack, line, file, size, stream, pool, annotation, module, module:DEPTH, op, phase, step, category,
        node-type or graph_step. Columns: device, name, bytes, allocations, requested_bytes, pending_bytes,
        largest_allocation (its id), stack (by stack only)
        """
        return self._table("groups", device, at, by)

    def diff(
        self,
        other: Run | None = None,
        *,
        at: str = "peak",
        other_at: str = "peak",
        by: str = "stack",
        device: int | None = None,
    ) -> Table:
        """Compares the memory of this run with that of another one, or with another point in time of this one.

        other: the run to compare with; None: this one. at, other_at: the points in time. by: as in top(). device: None:
        that with most events. Columns: name, change ("only in A", "only in B", "grown", "shrunk", "same"), a_bytes
        (of this run), b_bytes (of the other one), difference_bytes (b - a), a_allocations, b_allocations, moved (only
        line numbers differ), stack

            before.diff(after).to_pandas().head()
            run.diff(at="step:3", other_at="step:20", by="line")
        """
        if not isinstance(other, (Run, type(None))):
            raise TypeError(f"tidemark: diff() compares with a run: tidemark.open({other!r})")
        points = (_number(device), _encoded(at), _encoded(other_at), _encoded(by))
        return Table(_made(_library().tidemark_run_changes, self._handle, (other or self)._handle, *points))

    @functools.cached_property
    def summary(self) -> str:
        """Where the memory is, whether it grows and what to do first: a sentence per line."""
        return self.explain("summary").rstrip("\n")

    def explain(self, format: str = "text", device: int | None = None) -> str:
        """Returns the explanation, as `tidemark explain` prints it.

        format: "text", "markdown", "html" (a page), "fragment" (an element for a page of others), "json" (an object, or
        a list with the object of each device if there are several; described in docs/EXPLAIN.md), or "summary" (a
        sentence per line).
        """
        if format not in ("text", "markdown", "html", "fragment", "json", "summary"):
            raise ValueError(f"tidemark: unknown format {format!r}")
        return _text(_made(_library().tidemark_run_explanation, self._handle, _number(device), format.encode()))


def open(path: str | os.PathLike[str]) -> Run:
    """Opens a trace (.tide). The trace is never changed; one that is being recorded is read up to now.

    Raises TraceError if it cannot be read, and OSError if the installation is incomplete.

        run = tidemark.open("run.tide")
        print(run.explain())
        run.allocations.to_pandas().nlargest(10, "bytes")
    """
    return Run(path)


def _number(device: int | None) -> int:
    return _ALL_DEVICES if device is None else device


def _encoded(text: str | None) -> bytes | None:
    if not isinstance(text, (str, type(None))):
        raise TypeError(
            f'tidemark: {text!r} is not text; a point in time is "peak", "end", "event:5", "time:1.5s", ...'
        )
    return None if text is None else text.encode()
