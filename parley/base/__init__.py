"""Used by every room: errors, secrets, files replaced as a whole, strict JSON, safe text."""
