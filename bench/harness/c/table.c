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

static const uint32_t *index4, *starts4, *records4;
static const uint32_t *index6, *records6, *groups6, *tails6, *tail_records6, *second6, *third6;
static const double *keys6;
static int shift4;

static inline uint32_t search4(const uint32_t *words) {
  uint32_t value = words[0], bucket = value >> shift4;
  uint32_t low = index4[bucket], more = index4[bucket + 1] - low;
  while (more > 0) {
    uint32_t at = low + ((more + 1) >> 1);
    if (starts4[at] <= value) low = at;
    more >>= 1;
  }
  return records4[low];
}

static inline uint32_t search_tails(uint32_t group, const uint32_t *words) {
  uint32_t low = groups6[group], high = groups6[group + 1] - 1;
  if (!words) return tail_records6[high];
  uint32_t first = words[1] & 0xff;
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
  double key = (words[0] & 0x1fffffff) * 16777216.0 + (words[1] >> 8);
  uint32_t bucket = (words[0] & 0x1fffffff) >> 9;
  uint32_t low = index6[bucket], more = index6[bucket + 1] - low;
  if (more >= SECOND_CROWDED && second6) {
    uint32_t rest = words[0] << 23 | words[1] >> 9;
    int bits = slot_bits(more, SECOND_SHARE);
    uint32_t slot = (low >> SECOND_SHARE) + (rest >> (32 - bits));
    low = second6[slot], more = second6[slot + 1] - low;
    if (more >= THIRD_CROWDED) {
      int finer_bits = slot_bits(more, THIRD_SHARE);
      uint32_t finer = (low >> THIRD_SHARE) + ((rest << bits) >> (32 - finer_bits));
      low = third6[finer], more = third6[finer + 1] - low;
    }
  }
  while (more > 0) {
    uint32_t at = low + ((more + 1) >> 1);
    if (keys6[at] <= key) low = at;
    more >>= 1;
  }
  uint32_t record = records6[low];
  if (record < 0x80000000u) return record;
  return search_tails(record - 0x80000000u, keys6[low] == key ? words : 0);
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
  const uint32_t **sections[] = {&index4, &starts4, &records4, &index6,       0,
                                 &records6, &groups6, &tails6, &tail_records6,
                                 &second6,  &third6};
  for (int at = 0; at < 11; at++) {
    size_t offset = strtoull(argv[at + 2], 0, 10);
    // A table of before minor 4 lacks the last two.
    const void *section = offset ? bytes + offset : 0;
    if (sections[at]) *sections[at] = section;
    else keys6 = section;
  }
  shift4 = atoi(argv[13]);
  return serve();
}
