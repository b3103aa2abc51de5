"""Published times of whole models, predicted before they are looked at."""
