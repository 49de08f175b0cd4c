# Reference values for robustsparse.simulate.graph: how huge.generator's graphs and precision
# matrices are distributed. Run in this folder: Rscript huge_generator.R
# Written with R 4.2.2 and huge 1.3.5.
suppressMessages(library(huge))
set.seed(20240501)

cases <- data.frame(
  kind = c("cluster", "cluster", "hub", "band", "random", "scale-free"),
  d = c(60, 60, 50, 50, 60, 60),
  v = c(0.3, 0.6, 0.3, 0.3, 0.3, 0.3),
  repetitions = c(150, 150, 1, 1, 300, 400)
)

# Edges, largest degree, mean diagonal and largest off-diagonal entry of the precision matrix.
statistics <- function(kind, d, v) {
  made <- huge.generator(n = 2, d = d, graph = kind, v = v, u = 0.1, verbose = FALSE)
  theta <- as.matrix(made$theta)
  omega <- made$omega
  c(edges = sum(theta) / 2, degree = max(rowSums(theta)), diagonal = mean(diag(omega)),
    offdiagonal = max(abs(omega[upper.tri(omega)])))
}

summarize <- function(i) {
  case <- cases[i, ]
  values <- replicate(case$repetitions, statistics(case$kind, case$d, case$v))
  sds <- if (case$repetitions > 1) apply(values, 1, sd) else rep(0, nrow(values))
  data.frame(case, statistic = rownames(values), mean = rowMeans(values), sd = sds,
             row.names = NULL)
}

reference <- do.call(rbind, lapply(seq_len(nrow(cases)), summarize))
reference$huge <- as.character(packageVersion("huge"))
write.csv(reference, "huge_generator.csv", row.names = FALSE, quote = FALSE)
