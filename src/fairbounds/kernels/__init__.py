"""Numerical kernels: arrays in, arrays out; no names, no input or output."""
