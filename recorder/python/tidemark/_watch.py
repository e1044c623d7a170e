"""A thread that looks at something now and then, of which the program does not notice."""

import _thread


class Watch:
    """Calls look() first after `first_s`, then after pauses that grow to `longest_s`, until stop(): much happens at the
    beginning. Keeps no interpreter alive.

    No threading.Thread: programs count those, and wait for them."""

    def __init__(self, look, first_s=0.05, longest_s=0.5):
        self._look = look
        self._pauses = first_s, longest_s
        self._going_on = _thread.allocate_lock()
        self._going_on.acquire()
        _thread.start_new_thread(self._run, ())

    def stop(self):
        if self._going_on.locked():
            self._going_on.release()

    def _run(self):
        pause, longest = self._pauses
        while not self._going_on.acquire(timeout=pause):
            self._look()
            pause = min(pause * 1.05, longest)
