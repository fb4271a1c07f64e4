"""Export formats of every dataset, and parts that exports of datasets share."""
