#ifndef CKV_SHIMS_H
#define CKV_SHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has a CRC32C instruction that ckv_crc32c may use.
bool ckv_crc32c_available(void);

// CRC32C (Castagnoli) of `count` bytes continued from `crc`, the value of an earlier call or 0.
// Call only when ckv_crc32c_available() is true.
uint32_t ckv_crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
