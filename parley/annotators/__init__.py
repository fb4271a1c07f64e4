"""Labels that people bring: files of annotation tools, read, checked and compared."""
