"""What an audit found, for people: `text` for the terminal, `html` for a file to hand on.

Both draw the same `layout` and say the same `phrases`; nothing here computes a metric.
"""
