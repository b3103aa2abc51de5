"""The side of the model: fields that are defined and dealt among servers, and the status of these."""
