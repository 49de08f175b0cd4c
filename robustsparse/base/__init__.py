"""What knows nothing of statistics: errors, checks of arguments, words, files, threads."""
