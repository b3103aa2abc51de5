"""Time lines: what ranks did and when, of simulations and of real runs in one form, for Perfetto or as a picture."""
