"""What people look at: printed summaries, plots, ROC curves."""
