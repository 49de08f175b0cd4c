"""The paper's Algorithm 1: a loss, a robust gradient and a solver, which know nothing of each other."""
