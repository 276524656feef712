"""The experiments of Ramineni et al. 2025 and what they leave out, as data: drawing and writing happen elsewhere."""
