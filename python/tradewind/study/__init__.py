"""Studies: a TOML file lists what to vary; every case of it is computed once, stored, drawn and judged."""
