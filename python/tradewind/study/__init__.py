"""Studies: a TOML file says what to vary, and every case of it is computed once, stored, drawn and judged."""
