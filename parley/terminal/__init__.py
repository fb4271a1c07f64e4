"""Terminal output: tables, progress, reports, dialogues."""
