"""Files, dataframes and black boxes in; `fairbounds.Table` out.

A source is reduced to its observed cells where it lies: files by DuckDB, dataframes by their own engine. Nothing here
imports DuckDB, narwhals or a dataframe library before it is needed, and nothing ever uses the network.
"""

from __future__ import annotations

from fairbounds.sources.base import MissingPolicy, Source
from fairbounds.sources.blackbox import apply_model
from fairbounds.sources.opening import open_source, read_table

__all__ = ["MissingPolicy", "Source", "apply_model", "open_source", "read_table"]
