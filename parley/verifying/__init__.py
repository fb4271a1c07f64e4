"""From a build to verdicts; from two builds to their differences."""
