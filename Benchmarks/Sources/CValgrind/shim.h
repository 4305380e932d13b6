#include <valgrind/callgrind.h>

// Macros of inline assembly, which Swift cannot call. Outside of valgrind they do nothing.
static inline void memobench_start_counting(void) { CALLGRIND_START_INSTRUMENTATION; }
static inline void memobench_stop_counting(void) { CALLGRIND_STOP_INSTRUMENTATION; }
