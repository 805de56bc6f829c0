// An open-loop load generator: requests are due at fixed times, whatever the answers do, and a
// request's latency is counted from when it was due. So a server that stalls is charged for all
// requests that had to wait for it (no coordinated omission). HTTP/1.1 with keep-alive on loopback,
// one request at a time on a connection; it spins on its core, for sleeping is too coarse.
//
// Usage: steady PORT CONNECTIONS RATE SECONDS REQUESTS
// REQUESTS is a file of whole requests, each with its length in front as a 32-bit number.
// It prints one line of JSON: counts, percentiles, and the histogram as [microseconds, count] pairs
// (lower edge of a bucket; buckets are a 32nd of a power of two wide).

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define BUFFER_BYTES 16384
#define BUCKETS (64 * 32)

struct connection {
  int socket, busy, got;
  int64_t due;
  char buffer[BUFFER_BYTES];
};

static struct connection connections[CONNECTIONS_MAX];
// Free connections take turns, as those of many clients would.
static int idle[CONNECTIONS_MAX], idle_count, idle_first;
static uint64_t histogram[BUCKETS];
static uint64_t sent, answered, bad_status, broken;
static int64_t max_ns;

static int64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

// Exact below 64 ns, then 32 buckets for each power of two. Its inverse is `edge`.
static int bucket_of(uint64_t ns) {
  if (ns < 64) return (int)ns;
  int power = 63 - __builtin_clzll(ns);
  return (power - 4) * 32 + (int)((ns >> (power - 5)) & 31);
}

static double edge(int bucket) {
  if (bucket < 64) return bucket;
  return (double)((uint64_t)(32 + bucket % 32) << (bucket / 32 - 1));
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void put_idle(int number) {
  idle[(idle_first + idle_count++) % CONNECTIONS_MAX] = number;
}

static int take_idle(void) {
  int number = idle[idle_first];
  idle_first = (idle_first + 1) % CONNECTIONS_MAX;
  idle_count--;
  return number;
}

static void record(int64_t latency) {
  answered++;
  if (latency > max_ns) max_ns = latency;
  histogram[bucket_of(latency < 0 ? 0 : latency)]++;
}

// Whole answers have a content-length; a server that chunks is not measured here.
static int whole(struct connection *at) {
  at->buffer[at->got] = 0;
  char *end = strstr(at->buffer, "\r\n\r\n");
  if (!end) return 0;
  char *length = strcasestr(at->buffer, "content-length:");
  if (!length || length > end) {
    broken++;
    return 1;
  }
  return at->got >= end + 4 - at->buffer + atoi(length + 15);
}

static void take(int number) {
  struct connection *at = &connections[number];
  for (;;) {
    ssize_t got = read(at->socket, at->buffer + at->got, BUFFER_BYTES - 1 - at->got);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      // Gone: it is counted, and its connection is no longer used.
      if (at->busy) broken++;
      at->busy = -1;
      close(at->socket);
      return;
    }
    at->got += got;
    if (!at->busy || !whole(at)) continue;
    if (strncmp(at->buffer, "HTTP/1.1 200", 12)) bad_status++;
    record(now_ns() - at->due);
    at->busy = 0;
    at->got = 0;
    put_idle(number);
    return;
  }
}

static void print_result(double seconds) {
  const double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
  const char *names[] = {"p50", "p90", "p99", "p999", "p9999"};
  printf("{\"sent\":%lu,\"answered\":%lu,\"status\":%lu,\"broken\":%lu,\"seconds\":%.6f", sent,
         answered, bad_status, broken, seconds);
  uint64_t seen = 0;
  int share = 0;
  for (int at = 0; at < BUCKETS; at++) {
    seen += histogram[at];
    // The upper edge, so that a percentile is never said too low.
    while (share < 5 && answered && seen >= shares[share] * answered)
      printf(",\"%s\":%.3f", names[share++], edge(at + 1) / 1000);
  }
  printf(",\"max\":%.3f,\"histogram\":[", max_ns / 1000.0);
  const char *comma = "";
  for (int at = 0; at < BUCKETS; at++) {
    if (!histogram[at]) continue;
    printf("%s[%.3f,%lu]", comma, edge(at) / 1000, histogram[at]);
    comma = ",";
  }
  puts("]}");
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  int count = atoi(argv[2]);
  double rate = atof(argv[3]), seconds = atof(argv[4]);
  if (count < 1 || count > CONNECTIONS_MAX || rate <= 0) return 2;
  FILE *file = fopen(argv[5], "rb");
  if (!file) fail(argv[5]);
  fseek(file, 0, SEEK_END);
  long bytes = ftell(file);
  rewind(file);
  char *requests = malloc(bytes), *next = requests;
  if (!requests || fread(requests, 1, bytes, file) != (size_t)bytes) fail(argv[5]);

  int poll = epoll_create1(0);
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int at = 0; at < count; at++) {
    int one = 1, new_socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(new_socket, (struct sockaddr *)&server, sizeof server)) fail("connect");
    setsockopt(new_socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(new_socket, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = at};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, new_socket, &event)) fail("epoll");
    connections[at].socket = new_socket;
    put_idle(at);
  }

  int64_t begun = now_ns(), end = begun + (int64_t)(seconds * 1e9), give_up = end + 2000000000;
  struct epoll_event events[256];
  for (;;) {
    int64_t now = now_ns();
    for (;;) {
      int64_t due = begun + (int64_t)(sent * (1e9 / rate));
      if (due > now || due >= end || idle_count == 0) break;
      struct connection *at = &connections[take_idle()];
      uint32_t length;
      if (next >= requests + bytes) next = requests;
      memcpy(&length, next, 4);
      at->busy = 1;
      at->due = due;
      sent++;
      if (write(at->socket, next + 4, length) != (ssize_t)length) broken++;
      next += 4 + length;
    }
    int ready = epoll_wait(poll, events, 256, 0);
    for (int at = 0; at < ready; at++) take(events[at].data.u32);
    int64_t due = begun + (int64_t)(sent * (1e9 / rate));
    if (due >= end && answered + broken >= sent) break;
    if (now > give_up) break;
  }
  // What was due and never sent counts as broken, what was never answered too.
  uint64_t wanted = (uint64_t)(rate * seconds);
  uint64_t missing = (wanted > sent ? wanted - sent : 0) + (sent - answered);
  if (missing > broken) broken = missing;
  print_result((now_ns() - begun) / 1e9);
  return 0;
}
