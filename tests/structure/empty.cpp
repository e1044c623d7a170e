// A shared library needs a source; the linked archive is all that matters.
