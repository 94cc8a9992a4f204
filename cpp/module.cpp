// Python bindings of the kernel. What is bound here has a pure-Python twin in parsemark/kernels.
#include <nanobind/nanobind.h>

NB_MODULE(_native, m) { m.doc() = "Fast twins of the functions in parsemark.kernels."; }
