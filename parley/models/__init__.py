"""What a model is asked, and what its answers are worth; inspect asks it."""
