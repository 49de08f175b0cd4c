# Reference values for robustsparse.baselines: graphs, rank correlations and transformations.
# Run in this folder: Rscript graph_baselines.R
# Written with R 4.2.2, huge 1.3.5 and glasso 1.11.
suppressMessages({library(huge); library(glasso)})
set.seed(20240502)

n <- 60
d <- 12
made <- huge.generator(n = n, d = d, graph = "cluster", v = 0.5, verbose = FALSE)
X <- made$data
# Some columns are no longer normal, some values tie.
X[, 3] <- exp(X[, 3])
X[, 7] <- round(2 * X[, 7])
colnames(X) <- paste0("x", seq_len(d))
write.csv(apply(X, 2, function(x) sprintf("%.17g", x)), "graph_baselines_data.csv", row.names = FALSE, quote = FALSE)

rows <- list()
add <- function(method, parameter, matrix) {
  at <- expand.grid(i = seq_len(nrow(matrix)), j = seq_len(ncol(matrix)))
  rows[[length(rows) + 1]] <<- data.frame(method = method, parameter = parameter, at,
                                          value = as.vector(as.matrix(matrix)))
}

for (rho in c(0.5, 0.3, 0.15, 0.05)) {
  fit <- glasso(cor(X), rho, thr = 1e-10, maxit = 1e5, penalize.diagonal = FALSE)
  add("glasso", rho, fit$wi)
}

lambdas <- c(0.5, 0.3, 0.15, 0.05)
fit <- huge(X, lambda = lambdas, method = "mb", sym = "or", verbose = FALSE)
both <- huge(X, lambda = lambdas, method = "mb", sym = "and", verbose = FALSE)
for (q in seq_along(lambdas)) {
  # Column j of beta holds the coefficients of variable j on the others.
  add("mb", lambdas[q], fit$beta[[q]])
  add("mb_or", lambdas[q], fit$path[[q]])
  add("mb_and", lambdas[q], both$path[[q]])
}

add("skeptic_spearman", NA, huge.npn(X, npn.func = "skeptic", verbose = FALSE))
kendall <- sin(pi / 2 * cor(X, method = "kendall"))
add("skeptic_kendall", NA, kendall)
# huge divides every column by the standard deviation of the first, which is right where no values tie.
for (kind in c("shrinkage", "truncation")) {
  add(paste0("npn_", kind), NA, huge.npn(X, npn.func = kind, verbose = FALSE))
}

reference <- do.call(rbind, rows)
reference$value <- sprintf("%.12g", reference$value)
write.csv(reference, "graph_baselines.csv", row.names = FALSE, quote = FALSE)
