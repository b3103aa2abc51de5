"""Reading a study file, and what it will compute."""
