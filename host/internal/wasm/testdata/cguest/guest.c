// The C plugin that the engine's tests run: the first byte of a request says what to do.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((export_name("amygdala_abi_v1"))) void marker(void) {}

static char *in;
static unsigned calls;

__attribute__((export_name("amygdala_alloc"))) void *room(uint32_t n) {
  free(in);
  return in = malloc(n);
}

__attribute__((noinline)) static int deeper(volatile int *p, int n) {
  volatile int x = n;
  return n == 0 ? *p : deeper(&x, n - 1) + *p;
}

static uint64_t answer(const char *s, uint32_t n) { return (uint64_t)(uintptr_t)s << 32 | n; }

__attribute__((export_name("amygdala_call"))) uint64_t handle(uint32_t op, char *p, uint32_t n) {
  static char out[4096];
  switch (p[0]) {
  case 'e':
    memcpy(out, p, n < sizeof out ? n : sizeof out);
    out[0] = '=';
    return answer(out, n < sizeof out ? n : sizeof out);
  case 'c':
    calls++;
    out[0] = (char)calls;
    return answer(out, 1);
  case 'p':
    fprintf(stderr, "the guest is unhappy\n");
    abort();
  case 'x':
    exit(p[1]);
  case 'R':
    calls = deeper((int *)out, 1 << 30);
    return answer(out, 1);
  case 'a':
    for (;;) {
      char *volatile q = malloc(1 << 16);
      if (!q) abort();
      q[100] = 1;
    }
  case 'f':
    for (;;) memset(out, (int)op, sizeof out);
  }
  return answer("unknown", 7);
}
