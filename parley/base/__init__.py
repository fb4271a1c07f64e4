"""Used by every layer: errors, secrets, files replaced as a whole, strict JSON, safe text."""
