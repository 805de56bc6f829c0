// The loop that every C program of the lookup benchmark runs in: it takes commands on standard
// input, one a line, and answers each with one line of JSON. The same chunks, the same statistics
// and the same sums as the JavaScript side (bench/speed/lookups/measure.ts), so that both can stand
// in one table.
//
//   load <file> <family> <count>   addresses to ask about: four 32-bit words each
//   sum <operation>                the sum over all addresses, in their order
//   run <operation> <dependent> <cold> <milliseconds>
//                                  times chunks; nanoseconds an address
//
// `step` is a macro or an inline function of the program that includes this: operation, address,
// family to a number. Each operation has its own loop (the switch is outside), as a caller in C
// would have written it. `dependent` makes the place of the next address depend on the last result,
// which is below 2^31. `cold` reads 64 MiB of other memory before each chunk.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 1024
#define CHUNKS_MAX 65536
#define COLD_BYTES (64u << 20)

typedef uint32_t (*pass_function)(uint32_t first, uint32_t end, int dependent);

static uint32_t *addresses;
static uint32_t address_count;
static int address_family;

static double now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e9 + at.tv_nsec;
}

// Two loops for one operation: `last >> 31` is 0, which neither compiler nor processor can know.
#define PASS(name, STEP)                                                                           \
  static uint32_t name(uint32_t first, uint32_t end, int dependent) {                              \
    uint32_t sum = 0, last = 0;                                                                    \
    if (dependent) {                                                                               \
      for (uint32_t at = first; at < end; at++) {                                                  \
        last = STEP(addresses + (size_t)(at + (last >> 31)) * 4);                                  \
        sum += last;                                                                               \
      }                                                                                            \
    } else {                                                                                       \
      for (uint32_t at = first; at < end; at++) sum += STEP(addresses + (size_t)at * 4);           \
    }                                                                                              \
    return sum;                                                                                    \
  }

static void load(const char *path, int family, uint32_t count) {
  free(addresses);
  addresses = malloc((size_t)count * 16);
  FILE *file = fopen(path, "rb");
  if (!addresses || !file || fread(addresses, 16, count, file) != count) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  address_count = count;
  address_family = family;
  printf("{\"loaded\":%u}\n", count);
}

static int by_value(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static volatile uint32_t sink;

static void cool(void) {
  static uint32_t *other;
  if (!other) {
    other = malloc(COLD_BYTES);
    memset(other, 1, COLD_BYTES);
  }
  uint32_t sum = 0;
  for (size_t at = 0; at < COLD_BYTES / 4; at += 16) sum += other[at];
  sink ^= sum;
}

static void run(pass_function pass, int dependent, int cold, double milliseconds) {
  static double samples[CHUNKS_MAX];
  uint32_t first = 0;
  double mean = 0, spent = 0;
  // A fifth of the time warms up, as on the other side.
  double warm = now_ns() + milliseconds * 2e5;
  do {
    sink ^= pass(first, first + CHUNK, dependent);
    first = (first + CHUNK) % address_count;
  } while (now_ns() < warm);
  int count = 0;
  while (count < CHUNKS_MAX && (count == 0 || spent < milliseconds * 1e6)) {
    if (cold) cool();
    double begun = now_ns();
    sink ^= pass(first, first + CHUNK, dependent);
    double took = now_ns() - begun;
    first = (first + CHUNK) % address_count;
    spent += took;
    samples[count++] = took / CHUNK;
    mean += took / CHUNK;
  }
  qsort(samples, count, sizeof *samples, by_value);
  printf("{\"nsMedian\":%.3f,\"nsMean\":%.3f,\"nsP99\":%.3f,\"chunks\":%d}\n", samples[count / 2],
         mean / count, samples[(int)(count * 0.99)], count);
}

static pass_function pass_named(const char *name);

static int serve(void) {
  char line[4096], word[256], path[2048];
  int family, dependent, cold;
  unsigned count;
  double milliseconds;
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "load %2047s %d %u", path, &family, &count) == 3) {
      load(path, family, count);
    } else if (sscanf(line, "sum %255s", word) == 1 && pass_named(word)) {
      printf("{\"sum\":%u}\n", pass_named(word)(0, address_count, 0));
    } else if (sscanf(line, "run %255s %d %d %lf", word, &dependent, &cold, &milliseconds) == 4 &&
               pass_named(word)) {
      run(pass_named(word), dependent, cold, milliseconds);
    } else {
      fprintf(stderr, "not understood: %s", line);
      return 1;
    }
    fflush(stdout);
  }
  return 0;
}
