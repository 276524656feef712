"""Adult, COMPAS and German credit, as in the appendix of the paper: small count tables, a card each, no download.

The files are written by ``scripts/build_datasets.py``; a card tells where the data come from, under which licence,
every transformation and what to beware of.
"""

from __future__ import annotations

from fairbounds.datasets.loading import dataset_card, load_adult, load_compas, load_german
from fairbounds.datasets.paper import PaperView, paper_view, split

__all__ = ["PaperView", "dataset_card", "load_adult", "load_compas", "load_german", "paper_view", "split"]
