"""What everything else stands on: errors, units, names, files, memory."""
