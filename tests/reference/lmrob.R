# MM-regressions by robustbase, the reference values of tests/test_refit.py and tests/test_regression_classic.py.
# Run in this folder: Rscript lmrob.R
# Written with R 4.2.2 and robustbase 0.95-0. Default constants; tolerances tightened and subsamples
# increased, so that the values are those of the optimum and not of the stopping rule.

library(robustbase)
set.seed(20240501)

simulated <- function(n = 100, p = 5) {
  x <- matrix(round(rnorm(n * p), 6), n, p, dimnames = list(NULL, paste0("x", 1:p)))
  y <- 1 + drop(x %*% c(2, -1, 0.5, 0, 0)) + rnorm(n)
  y[1:15] <- y[1:15] + 20
  x[1:5, ] <- x[1:5, ] * 10
  data.frame(y = round(y, 6), x)
}

sets <- list(
  stackloss = stackloss[, c("stack.loss", "Air.Flow", "Water.Temp", "Acid.Conc.")],
  hbk = hbk[, c("Y", "X1", "X2", "X3")],
  starsCYG = starsCYG[, c("log.light", "log.Te")],
  coleman = coleman[, c("Y", setdiff(names(coleman), "Y"))],
  wood = wood[, c("y", paste0("x", 1:5))],
  simulated = simulated()
)

signif_all <- function(table) {
  numeric <- vapply(table, is.numeric, TRUE)
  table[numeric] <- lapply(table[numeric], signif, digits = 12)
  table
}

control <- lmrob.control(
  nResample = 5000, max.it = 1000, k.max = 2000, maxit.scale = 2000,
  refine.tol = 1e-12, rel.tol = 1e-12, scale.tol = 1e-14
)

terms <- do.call(rbind, lapply(names(sets), function(name) {
  data <- sets[[name]]
  names(data)[1] <- "y"
  fit <- lmrob(y ~ ., data = data, control = control)
  rows <- data.frame(data, resid = residuals(fit), weight = fit$rweights)
  write.csv(signif_all(rows), paste0("lmrob_", name, ".csv"), row.names = FALSE)
  data.frame(
    dataset = name, term = names(coef(fit)), coef = coef(fit),
    se_avar1 = sqrt(diag(vcov(fit, cov = ".vcov.avar1"))), se_w = sqrt(diag(vcov(fit, cov = ".vcov.w"))), scale = fit$scale
  )
}))
write.csv(signif_all(terms), "lmrob_terms.csv", row.names = FALSE)
