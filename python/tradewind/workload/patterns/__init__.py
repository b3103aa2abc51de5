"""The patterns, one file each: their options, checks, schedules, labels and known arrays. See `workload.registry`."""
