# Robust logistic regressions by robustbase, the reference values of tests/test_refit_binomial.py.
# Run in this folder: Rscript glmrob.R
# Written with R 4.2.2 and robustbase 0.95-0. Default constant (tcc = 1.345), tolerance tightened.

library(robustbase)
set.seed(20240503)

simulated <- function(n = 200) {
  x <- matrix(round(rnorm(n * 3), 6), n, 3, dimnames = list(NULL, paste0("x", 1:3)))
  y <- rbinom(n, 1, plogis(0.5 + drop(x %*% c(1.5, -1, 0))))
  y[1:20] <- 1 - y[1:20]
  x[1:4, ] <- x[1:4, ] * 8
  data.frame(y = y, x)
}

many <- function(n = 500) {
  x <- matrix(round(rnorm(n * 6), 6), n, 6, dimnames = list(NULL, paste0("x", 1:6)))
  data.frame(y = rbinom(n, 1, plogis(-0.5 + drop(x %*% c(1, 1, -1, 0.5, 0, 0)))), x)
}

# One row for each carrot: damaged by insects or not.
each <- rep(seq_len(nrow(carrots)), carrots$total)
damaged <- with(carrots, data.frame(
  y = unlist(Map(function(bad, all) rep(1:0, c(bad, all - bad)), success, total)),
  logdose = logdose[each], second = as.integer(block == "B2")[each], third = as.integer(block == "B3")[each]
))

sets <- list(
  vaso = data.frame(y = vaso$Y, logVolume = signif(log(vaso$Volume), 12), logRate = signif(log(vaso$Rate), 12)),
  carrots = damaged, simulated = simulated(), many = many()
)

control <- glmrobMqle.control(acc = 1e-13, maxit = 2000)

results <- lapply(names(sets), function(name) {
  data <- sets[[name]]
  rows <- data
  terms <- NULL
  # The categories of the carrots have a singular robust covariance.
  for (on.x in if (name == "carrots") c("none", "hat") else c("none", "hat", "robCov")) {
    fit <- glmrob(y ~ ., family = binomial, data = data, method = "Mqle", weights.on.x = on.x, control = control)
    rows[[paste0("leverage_", on.x)]] <- signif(fit$w.x, 14)
    rows[[paste0("weight_", on.x)]] <- signif(fit$w.r * fit$w.x, 12)
    terms <- rbind(terms, data.frame(
      dataset = name, on_x = on.x, term = names(coef(fit)),
      coef = signif(coef(fit), 12), se = signif(sqrt(diag(vcov(fit))), 12)
    ))
  }
  write.csv(rows, paste0("glmrob_", name, ".csv"), row.names = FALSE)
  terms
})
write.csv(do.call(rbind, results), "glmrob_terms.csv", row.names = FALSE)
