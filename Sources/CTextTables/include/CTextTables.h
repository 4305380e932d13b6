#ifndef CTEXT_TABLES_H
#define CTEXT_TABLES_H

#include <stdint.h>

#include "text_table_sizes.h"

// How texts are folded for a search: tables of constants, made by Tools/make-text-tables.py, and
// the only ways into them. No index, whatever it is, leads outside.
//
// They are C so that they are bytes of the program file: nothing is built when a process starts, in
// no kind of build.

extern const ctext_stage_number ctext_stage[CTEXT_STAGE_COUNT];
extern const uint16_t ctext_blocks[CTEXT_BLOCK_COUNT];
extern const uint32_t ctext_records[CTEXT_RECORD_COUNT];
extern const uint8_t ctext_pool[CTEXT_POOL_COUNT];
extern const uint32_t ctext_pairs[3 * CTEXT_PAIR_COUNT];
extern const uint16_t ctext_pairs_by_whole[CTEXT_PAIR_COUNT];

// What a scalar is folded to: an index of a record, or from CTEXT_FIRST_POOLED on a place in the
// pool. 0 is a letter that stands for itself.
static inline uint16_t ctext_entry(uint32_t scalar) {
  if (scalar >= CTEXT_LIMIT) {
    if (scalar >= CTEXT_IDEOGRAPHS && scalar < CTEXT_IDEOGRAPHS_END) {
      scalar -= CTEXT_IDEOGRAPHS - CTEXT_LIMIT;
    } else {
      return scalar >= CTEXT_IGNORED_PLANE && scalar < CTEXT_IGNORED_PLANE_END ? CTEXT_IGNORED : 0;
    }
  }
  uint32_t place = ((uint32_t)ctext_stage[scalar >> CTEXT_SHIFT] << CTEXT_SHIFT) +
                   (scalar & ((1u << CTEXT_SHIFT) - 1));
  return ctext_blocks[place];
}

// A record: eight bits of combining class, three flags (joins the scalar before, must stay with it,
// is a mark that can be dropped), and the distance to the folded scalar.
static inline uint32_t ctext_record(uint16_t entry) {
  return entry < CTEXT_RECORD_COUNT ? ctext_records[entry] : 0;
}

// A byte of the pool: the head of an expansion (six bits of length, whether its marks want
// ordering, whether it joins the scalar before), or behind it its UTF-8.
static inline uint8_t ctext_pool_byte(uint32_t place) {
  return place < CTEXT_POOL_COUNT ? ctext_pool[place] : 0;
}

// Two scalars and the one that they are composed to.
typedef struct {
  uint32_t second, first, whole;
} ctext_pair;

// The pairs by second and first scalar.
static inline ctext_pair ctext_pair_at(uint32_t index) {
  const uint32_t *row = &ctext_pairs[3 * (index < CTEXT_PAIR_COUNT ? index : 0)];
  ctext_pair pair = {row[0], row[1], row[2]};
  return pair;
}

// The pairs by the scalar that they are composed to.
static inline ctext_pair ctext_pair_by_whole_at(uint32_t index) {
  return ctext_pair_at(index < CTEXT_PAIR_COUNT ? ctext_pairs_by_whole[index] : 0);
}

#endif
