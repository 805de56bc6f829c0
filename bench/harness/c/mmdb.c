// libmaxminddb as a C program would use it, over the MMDB files of one family each: the lookup
// alone, and the lookup with one value (the country code).
//
// Usage: mmdb IPV4.mmdb IPV6.mmdb

#include <arpa/inet.h>
#include <maxminddb.h>

#include "loop.h"

static MMDB_s files[2];

static inline MMDB_lookup_result_s find(const uint32_t *words, MMDB_s *mmdb, int family) {
  int error;
  if (family == 4) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(words[0])};
    return MMDB_lookup_sockaddr(mmdb, (struct sockaddr *)&address, &error);
  }
  struct sockaddr_in6 address = {.sin6_family = AF_INET6};
  for (int at = 0; at < 4; at++) {
    uint32_t word = htonl(words[at]);
    memcpy(address.sin6_addr.s6_addr + at * 4, &word, 4);
  }
  return MMDB_lookup_sockaddr(mmdb, (struct sockaddr *)&address, &error);
}

static inline uint32_t lookup(const uint32_t *words, int family) {
  return find(words, &files[family == 6], family).found_entry;
}

// Both letters as one number; 0 where there is none.
static inline uint32_t country(const uint32_t *words, int family) {
  MMDB_lookup_result_s result = find(words, &files[family == 6], family);
  MMDB_entry_data_s data;
  if (!result.found_entry) return 0;
  int status = MMDB_get_value(&result.entry, &data, "country_code", NULL);
  if (status != MMDB_SUCCESS || !data.has_data || data.data_size != 2) return 0;
  return (uint32_t)(uint8_t)data.utf8_string[0] << 8 | (uint8_t)data.utf8_string[1];
}

#define LOOKUP4(words) lookup(words, 4)
#define LOOKUP6(words) lookup(words, 6)
#define COUNTRY4(words) country(words, 4)
#define COUNTRY6(words) country(words, 6)
PASS(lookup4, LOOKUP4)
PASS(lookup6, LOOKUP6)
PASS(country4, COUNTRY4)
PASS(country6, COUNTRY6)

static pass_function pass_named(const char *name) {
  if (!strcmp(name, "lookup")) return address_family == 4 ? lookup4 : lookup6;
  if (!strcmp(name, "country")) return address_family == 4 ? country4 : country6;
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  for (int at = 0; at < 2; at++) {
    int status = MMDB_open(argv[at + 1], MMDB_MODE_MMAP, &files[at]);
    if (status != MMDB_SUCCESS) {
      fprintf(stderr, "%s: %s\n", argv[at + 1], MMDB_strerror(status));
      return 1;
    }
  }
  return serve();
}
