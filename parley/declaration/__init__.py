"""What a dataset's script declares; its folder, found and imported."""
