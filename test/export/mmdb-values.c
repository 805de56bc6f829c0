// libmaxminddb as any C program uses it: of each address on standard input a line of what the file
// says, members that it does not have as `-`.
//
// Usage: mmdb-values FILE PATH…     a path is network/asn

#include <maxminddb.h>
#include <stdio.h>
#include <string.h>

static void print_value(MMDB_entry_s *entry, const char *path) {
  char names[256];
  const char *parts[8] = {0};
  int count = 0;
  snprintf(names, sizeof names, "%s", path);
  for (char *name = strtok(names, "/"); name && count < 7; name = strtok(NULL, "/"))
    parts[count++] = name;
  MMDB_entry_data_s data;
  if (MMDB_aget_value(entry, &data, parts) != MMDB_SUCCESS || !data.has_data) {
    fputs("\t-", stdout);
  } else if (data.type == MMDB_DATA_TYPE_UTF8_STRING) {
    printf("\t%.*s", (int)data.data_size, data.utf8_string);
  } else if (data.type == MMDB_DATA_TYPE_UINT32) {
    printf("\t%u", data.uint32);
  } else if (data.type == MMDB_DATA_TYPE_DOUBLE) {
    printf("\t%.4f", data.double_value);
  } else if (data.type == MMDB_DATA_TYPE_BOOLEAN) {
    printf("\t%s", data.boolean ? "true" : "false");
  } else {
    fputs("\t?", stdout);
  }
}

int main(int argc, char **argv) {
  MMDB_s file;
  char line[64];
  if (argc < 3 || MMDB_open(argv[1], MMDB_MODE_MMAP, &file) != MMDB_SUCCESS) return 2;
  while (fgets(line, sizeof line, stdin)) {
    int resolved, failed;
    line[strcspn(line, "\n")] = 0;
    MMDB_lookup_result_s found = MMDB_lookup_string(&file, line, &resolved, &failed);
    if (resolved || failed) return 3;
    fputs(line, stdout);
    for (int at = 2; at < argc; at++) {
      if (found.found_entry) print_value(&found.entry, argv[at]);
      else fputs("\t-", stdout);
    }
    putchar('\n');
  }
  return 0;
}
