"""The topics of the demo benchmark, all invented: no place, person or measurement in them is real."""
