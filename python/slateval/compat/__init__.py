"""For those who come from other libraries: their data as ours, our estimators in their frame."""
