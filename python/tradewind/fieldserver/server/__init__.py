"""The side of the servers: writers, hand-overs of whole fields, input that is read ahead; the messages of a model."""
