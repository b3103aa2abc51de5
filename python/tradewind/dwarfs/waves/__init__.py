"""Linear waves, whose solutions are known in closed form, and limited areas: what several spectral dwarfs share."""
