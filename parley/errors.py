"""What can go wrong, as exceptions.

ParleyError              all of them; the message is for people and complete
├── UsageError           asked for something that there is not (exit status 2)
├── SourceError          an upstream file is missing or not the pinned one
│   └── FetchError       it could not be brought here
├── RecordError          a file does not hold what its record shape says
├── RowError             a builder gave a row that its features cannot hold exactly
├── OutputError          the output folder cannot be written or read
└── PublishError         the Hub could not be reached or refused, or gave back something else
"""


class ParleyError(Exception):
    """Something is wrong with the input, the network or the disk, and the message says what."""


class UsageError(ParleyError):
    """The command asked for a dataset, config or dialogue that does not exist."""


class SourceError(ParleyError):
    """A source is missing, or differs from its pin."""


class FetchError(SourceError):
    """A source could not be downloaded."""


class RecordError(ParleyError):
    """A source file does not hold what its record shape says."""


class RowError(ParleyError):
    """A row does not fit its config's features exactly."""


class OutputError(ParleyError):
    """An output folder cannot be written, or is not what a build leaves."""


class PublishError(ParleyError):
    """The Hub could not be reached, refused, or does not give back what was published."""
