"""The formats that every dataset can be written in, and what those of one dataset share."""
