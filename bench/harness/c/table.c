// The lookup of src/table/lookup/search.ts in C, over the same sections of the same mapped table
// file: what the algorithm costs where no JavaScript is in the way. The twin of its JavaScript, not
// a product.
//
// Usage: table FILE ipv4_index ipv4_starts ipv4_records ipv6_index ipv6_keys ipv6_records
//        ipv6_tail_groups ipv6_tails ipv6_tail_records ipv6_second ipv6_third shift4
//        (offsets of the sections in the file, and what ipv4IndexShift says of the first)
// SECOND_SHARE, SECOND_CROWDED, THIRD_SHARE and THIRD_CROWDED are src/schema/table-layout.ts's, by
// the compiler's flags.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop.h"

static const uint32_t *index4, *records4;
static const uint16_t *starts4;
static const uint32_t *index6, *keys6, *records6, *groups6, *tails6, *tail_records6;
static const uint32_t *second6, *third6;
static int shift4;

static inline uint32_t search4(const uint32_t *words) {
  uint32_t bucket = words[0] >> shift4, below = words[0] & ((1u << shift4) - 1);
  uint32_t from = index4[bucket], more = index4[bucket + 1] - from, low = from - 1;
  while (more > 0) {
    uint32_t at = low + ((more + 1) >> 1);
    if (starts4[at] <= below) low = at;
    more >>= 1;
  }
  return records4[low];
}

static inline uint32_t search_tails(uint32_t group, const uint32_t *words) {
  uint32_t low = groups6[group], high = groups6[group + 1] - 1;
  if (!words) return tail_records6[high];
  uint32_t first = words[1] & 0x1ff;
  while (low < high) {
    uint32_t middle = (low + high + 1) >> 1;
    const uint32_t *tail = tails6 + (size_t)middle * 3;
    int below = tail[0] < first ||
                (tail[0] == first &&
                 (tail[1] < words[2] || (tail[1] == words[2] && tail[2] <= words[3])));
    if (below) low = middle;
    else high = middle - 1;
  }
  return tail_records6[low];
}

static inline int slot_bits(uint32_t keys, int share) {
  return 31 - __builtin_clz((keys >> share) - 1);
}

static inline uint32_t search6(const uint32_t *words) {
  uint32_t bucket = (words[0] & 0x1fffffff) >> 9, key = words[0] << 23 | words[1] >> 9;
  uint32_t from = index6[bucket], more = index6[bucket + 1] - from;
  if (more >= SECOND_CROWDED) {
    int bits = slot_bits(more, SECOND_SHARE);
    uint32_t slot = (from >> SECOND_SHARE) + (key >> (32 - bits));
    from = second6[slot], more = second6[slot + 1] - from;
    if (more >= THIRD_CROWDED) {
      int finer_bits = slot_bits(more, THIRD_SHARE);
      uint32_t finer = (from >> THIRD_SHARE) + ((key << bits) >> (32 - finer_bits));
      from = third6[finer], more = third6[finer + 1] - from;
    }
  }
  uint32_t low = from - 1;
  while (more > 0) {
    uint32_t at = low + ((more + 1) >> 1);
    if (keys6[at] <= key) low = at;
    more >>= 1;
  }
  uint32_t record = records6[low];
  if (record < 0x80000000u) return record;
  int same_key = (int32_t)(low - from) >= 0 && keys6[low] == key;
  return search_tails(record - 0x80000000u, same_key ? words : 0);
}

PASS(pass4, search4)
PASS(pass6, search6)

static pass_function pass_named(const char *name) {
  if (strcmp(name, "search")) return 0;
  return address_family == 4 ? pass4 : pass6;
}

int main(int argc, char **argv) {
  if (argc != 14) return 2;
  int file = open(argv[1], O_RDONLY);
  struct stat stat;
  if (file < 0 || fstat(file, &stat)) return perror(argv[1]), 1;
  const char *bytes = mmap(0, stat.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  if (bytes == MAP_FAILED) return perror(argv[1]), 1;
  const void **sections[] = {
      (const void **)&index4,   (const void **)&starts4, (const void **)&records4,
      (const void **)&index6,   (const void **)&keys6,   (const void **)&records6,
      (const void **)&groups6,  (const void **)&tails6,  (const void **)&tail_records6,
      (const void **)&second6,  (const void **)&third6};
  for (int at = 0; at < 11; at++) *sections[at] = bytes + strtoull(argv[at + 2], 0, 10);
  shift4 = atoi(argv[13]);
  return serve();
}
