# Select prototypes with R's protoclass, where R and that package are installed.
# Run by bench_peers.py: Rscript select_protoclass.R X.csv y.csv eps cost answer.csv
arguments <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.csv(arguments[1], header = FALSE))
y <- scan(arguments[2], quiet = TRUE)
started <- proc.time()[["elapsed"]]
dxz <- as.matrix(dist(X))
distances <- proc.time()[["elapsed"]] - started
model <- protoclass::protoclass(y = y, dxz = dxz, eps = as.numeric(arguments[3]),
                                lambda = as.numeric(arguments[4]))
total <- proc.time()[["elapsed"]] - started
chosen <- which(model$alpha > 0, arr.ind = TRUE)
answer <- data.frame(candidate = chosen[, 1] - 1, label = model$classes[chosen[, 2]])
answer$seconds <- total
answer$distance_seconds <- distances
answer$megabytes <- sum(gc()[, 6])
write.csv(answer, arguments[5], row.names = FALSE)
