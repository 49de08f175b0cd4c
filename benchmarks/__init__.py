"""Speed and accuracy of robustsparse beside what else there is: `python -m benchmarks`."""
