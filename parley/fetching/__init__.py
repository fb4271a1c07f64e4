"""From a pin to a checked file."""
