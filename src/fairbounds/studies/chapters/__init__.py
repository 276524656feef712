"""What the report says of each study: its figures, its tables beside the paper's, and what a reader must know."""
