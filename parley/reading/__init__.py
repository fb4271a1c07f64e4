"""From a build to dialogues, exports, pages and pictures."""
