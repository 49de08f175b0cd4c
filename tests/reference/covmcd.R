# Robust distances by robustbase, the reference values of tests/test_outliers.py.
# Run in this folder, after lmrob.R: Rscript covmcd.R
# Written with R 4.2.2 and robustbase 0.95-0.

library(robustbase)
set.seed(20240502)

distances <- do.call(rbind, lapply(c("stackloss", "hbk", "coleman", "wood", "simulated"), function(name) {
  data <- read.csv(paste0("lmrob_", name, ".csv"))
  x <- as.matrix(data[, setdiff(names(data), c("y", "resid", "weight"))])
  fit <- covMcd(x, alpha = 0.5, nsamp = 5000)
  data.frame(dataset = name, row = seq_len(nrow(x)), distance = signif(sqrt(fit$mah), 12))
}))
write.csv(distances, "covmcd.csv", row.names = FALSE)
