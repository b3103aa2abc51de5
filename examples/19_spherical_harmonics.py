"""A Rossby-Haurwitz wave on an octahedral grid: wind from vorticity, its spectrum, and a step of diffusion.

    python examples/19_spherical_harmonics.py

The transform of a spectral model in one process: vorticity in spectral space becomes wind on the grid and comes back.
Prints the largest wind, its kinetic energy by wavenumber, and how exactly vorticity returns.
"""

import numpy as np

import tradewind as tw

transform = tw.SpectralTransform("O48")  # TCo47: 19,  about 200 km between points
truncation, grid = transform.truncation, transform.grid

# Vorticity of the wave with zonal wavenumber 4 (Williamson et al. 1992, case 6), on the grid.
omega = k = 7.848e-6  # 1/s
latitude = np.radians(np.repeat(grid.latitudes, grid.rows))
longitude = np.radians(np.concatenate([grid.longitudes(row) for row in range(len(grid.rows))]))
wave = k * np.sin(latitude) * np.cos(latitude) ** 4 * (4 + 1) * (4 + 2) * np.cos(4 * longitude)
vorticity_on_grid = 2 * omega * np.sin(latitude) - wave

vorticity = transform.to_spectral(vorticity_on_grid)
u, v = transform.wind(vorticity, np.zeros_like(vorticity))
print(f"{truncation}: {grid.points} points, {truncation.coefficients} coefficients")
print(f"wind to the east from {u.min():.1f} to {u.max():.1f} m/s, to the north up to {v.max():.1f} m/s")

# Only the mean flow (m = 0) and the wave (m = 4) have energy: abs(vorticity)^2 a^2 / (2 n (n + 1)), m > 0 twice.
energy = 0.5 * (np.conj(vorticity) * -transform.inverse_laplacian(vorticity)).real
by_wavenumber = np.add.reduceat(energy, truncation.start[:-1]) * np.where(truncation.wavenumbers > 0, 2, 1)
for m in np.flatnonzero(by_wavenumber > 1e-10 * by_wavenumber.sum()):
    print(f"kinetic energy of wavenumber {m}: {by_wavenumber[m]:.2f} m2/s2")
assert np.isclose(by_wavenumber.sum(), np.repeat(transform.fourier.quadrature, grid.rows) @ (u**2 + v**2) / 2)

back, divergence = transform.vorticity_divergence(u, v)
print(
    f"vorticity comes back to {np.abs(back - vorticity).max() / np.abs(vorticity).max():.0e} of its largest coefficient"
)

# A semi-implicit step of diffusion: (1 - dt K lap) new = old.
smoother = transform.operators.solve_helmholtz(vorticity[:, None], 1.0, 86400 * 1e6)[:, 0]
print(f"after a day of diffusion by 1e6 m2/s: {np.abs(smoother).max() / np.abs(vorticity).max():.2f} of it are left")
