"""Classical robust statistics on few columns: scales, standardizing, MM-regression, distances of rows."""
