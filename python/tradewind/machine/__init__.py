"""Machines: their networks and nodes, as files say and as they are measured."""

from __future__ import annotations

from tradewind.machine.machine import Machine, MachineFile, load_machine, machine_folder, machine_names

__all__ = ["Machine", "MachineFile", "load_machine", "machine_folder", "machine_names"]
