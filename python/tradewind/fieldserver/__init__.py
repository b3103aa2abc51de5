"""The field server: output and input of a model that do not stop it.

Fields go from any layout to whole fields, on server ranks or on ranks of the model, by a redistribution like any other
exchange; there they are encoded and written while the model goes on. A plan file says what is written, and how.
"""
