"""Method of an exchange: algorithm, transport and packing, by choice, tuning file or default."""
