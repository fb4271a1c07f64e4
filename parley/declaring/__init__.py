"""What a dataset folder may say: files and pins, shapes, configs, figures, tasks, games, charts."""
