"""From a design to a fit in standardized units: options, choice of k, rejected rows, refit."""
