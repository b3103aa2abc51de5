"""Machines: their networks and nodes, from files and from measurements."""

from __future__ import annotations

from tradewind.machine.machine import Machine, MachineFile, load_machine, machine_folder, machine_names

__all__ = ["Machine", "MachineFile", "load_machine", "machine_folder", "machine_names"]
