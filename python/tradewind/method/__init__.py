"""How an exchange is carried out: algorithm, transport and packing, by choice, tuning file or default."""
