# Fits of R packages, for `rpeers.py`: Rscript peers.R METHOD FOLDER
# The folder holds x.bin (columns one after another), y.bin for a regression and size.txt (rows, columns, k).
# Seconds of the fit alone go to seconds.txt (user and system, elapsed), coefficients to coef.bin.
arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
path <- function(name) file.path(arguments[2], name)
size <- scan(path("size.txt"), quiet = TRUE)
n <- size[1]
d <- size[2]
x <- matrix(readBin(path("x.bin"), "double", n * d), n, d)
y <- if (file.exists(path("y.bin"))) readBin(path("y.bin"), "double", n)

fits <- list(
  cv.glmnet = function() {
    fit <- glmnet::cv.glmnet(x, y, nfolds = 5)
    as.numeric(coef(fit, s = "lambda.min"))[-1]
  },
  sparseLTS = function() {
    # Penalties as fractions of the smallest that leaves no predictor, chosen by BIC.
    fit <- robustHD::sparseLTS(x, y, lambda = seq(1, 0.1, by = -0.1), mode = "fraction", crit = "BIC")
    as.numeric(coef(fit))[-1]
  },
  huge.mb = function() huge::huge(x, method = "mb", verbose = FALSE),
  huge.glasso = function() huge::huge(x, method = "glasso", verbose = FALSE)
)

loadNamespace(c(cv.glmnet = "glmnet", sparseLTS = "robustHD", huge.mb = "huge", huge.glasso = "huge")[[method]])
set.seed(1)
time <- system.time(fit <- fits[[method]]())
writeLines(format(c(time[["user.self"]] + time[["sys.self"]], time[["elapsed"]]), digits = 6), path("seconds.txt"))
if (is.numeric(fit)) writeBin(fit, path("coef.bin"))
