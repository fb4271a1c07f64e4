"""From a URL to checked files on disk: pins, downloads, archives, and where a build finds them."""
