# Select prototypes with R's protoclass.
# Run by bench_peers.py: Rscript select_protoclass.R package X.csv y.csv eps cost answer.csv
# The package is the folder of its source, which is read as it lies, or a library that has it.
arguments <- commandArgs(trailingOnly = TRUE)
package <- arguments[1]
if (dir.exists(file.path(package, "protoclass"))) {
  namespace <- loadNamespace("protoclass", lib.loc = c(package, .libPaths()))
  number <- as.character(packageVersion("protoclass", lib.loc = package))
} else {
  namespace <- new.env()
  for (file in list.files(file.path(package, "R"), full.names = TRUE)) sys.source(file, namespace)
  number <- read.dcf(file.path(package, "DESCRIPTION"), fields = "Version")[1]
}
X <- as.matrix(read.csv(arguments[2], header = FALSE))
y <- scan(arguments[3], quiet = TRUE)

# As memory.py does.
megabytes <- function(key) {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep(key, lines, value = TRUE))) / 1024
}
seconds <- function() sum(proc.time()[c("user.self", "sys.self")])

before <- tryCatch({
  write("5", "/proc/self/clear_refs")
  megabytes("^VmRSS:")
}, error = function(unknown) NA, warning = function(unknown) NA)
started <- seconds()
dxz <- as.matrix(dist(X))
model <- namespace$protoclass(y = y, dxz = dxz, eps = as.numeric(arguments[4]),
                              lambda = as.numeric(arguments[5]))
taken <- seconds() - started
chosen <- which(model$alpha > 0, arr.ind = TRUE)
answer <- data.frame(candidate = chosen[, 1] - 1, label = model$classes[chosen[, 2]])
answer$seconds <- taken
answer$megabytes <- if (is.na(before)) NaN else megabytes("^VmHWM:") - before
answer$version <- sprintf("protoclass %s (R %s)", number, getRversion())
write.csv(answer, arguments[6], row.names = FALSE)
