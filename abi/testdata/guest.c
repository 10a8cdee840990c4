// A whole detector in C without any library. It reports the word "zebra" in every view.
//
//   clang --target=wasm32-unknown-unknown -O2 -fno-builtin -nostdlib -Wl,--no-entry -o guest.wasm guest.c

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define EXPORT(name) __attribute__((export_name(#name))) name

// ---- Reading protobuf: a span of bytes not read yet. Where the bytes are malformed, the span ends and `malformed` is set. ----

typedef struct { const u8 *p, *end; } span;
static int malformed;

static u64 fail(span *s) { malformed = 1; s->p = s->end; return 0; }

static u64 varint(span *s) {
  u64 v = 0;
  for (int shift = 0; s->p < s->end && shift < 64; shift += 7) {
    u8 c = *s->p++;
    v |= (u64)(c & 127) << shift;
    if (c < 128) return v;
  }
  return fail(s);
}

static span bytes(span *s, u64 n) {
  if (n > (u64)(s->end - s->p)) n = fail(s);
  span b = {s->p, s->p + n};
  s->p += n;
  return b;
}

// next reads one field: its number into *num; the value of length-delimited fields into *b, all others are skipped.
static int next(span *s, u32 *num, span *b) {
  if (s->p >= s->end) return 0;
  u64 tag = varint(s);
  *num = (u32)(tag >> 3);
  b->p = b->end = 0;
  switch (tag & 7) {
  case 0: varint(s); break;
  case 1: bytes(s, 8); break;
  case 2: *b = bytes(s, varint(s)); break;
  case 5: bytes(s, 4); break;
  default: fail(s);
  }
  return 1;
}

// ---- Writing. The answer stays in place until the host calls again. ----

static u8 out[3072]; // about 230 findings; a verdict may have 256
static u32 len;

static void put(const char *s, u32 n) { while (n--) out[len++] = (u8)*s++; }
#define LITERAL(s) put(s, sizeof(s) - 1)

static void put_varint(u64 v) {
  for (; v >= 128; v >>= 7) out[len++] = (u8)(v | 128);
  out[len++] = (u8)v;
}

static u32 varint_size(u64 v) { u32 n = 1; while (v >>= 7) n++; return n; }

// finding appends Verdict.findings: prompt_injection, high, confidence 0.9, view, start, end. Numbers that are 0 are left out.
static void finding(u32 view, u32 start) {
  u32 n = 2 + 2 + 5 + (view ? 1 + varint_size(view) : 0) + (start ? 1 + varint_size(start) : 0) + 1 + varint_size(start + 5);
  put("\x0a", 1); put_varint(n);
  LITERAL("\x08\x01" "\x10\x03" "\x1d\x66\x66\x66\x3f");
  if (view) put("\x20", 1), put_varint(view);
  if (start) put("\x28", 1), put_varint(start);
  put("\x30", 1); put_varint(start + 5);
}

static void scan(u32 view, span text) {
  for (const u8 *p = text.p; text.end - p >= 5; p++)
    if (p[0] == 'z' && p[1] == 'e' && p[2] == 'b' && p[3] == 'r' && p[4] == 'a' && len < sizeof out - 64)
      finding(view, (u32)(p - text.p));
}

// detect answers DETECT: Request.detect is field 5, DetectRequest.views field 5, View.text field 2. A request that cannot be read, or
// holds nothing to judge, is an error: "nothing found" would be a lie.
static void detect(span request) {
  u32 num, view = 0, n;
  int asked = 0;
  span body, v, text;
  malformed = 0;
  len = 8; // room for the head of Response.verdict, whose length is not known yet
  while (next(&request, &num, &body))
    if (num == 5)
      for (asked = 1; next(&body, &num, &v);)
        if (num == 5) {
          while (next(&v, &num, &text))
            if (num == 2) scan(view, text);
          view++;
        }
  if (malformed || !asked) {
    len = 0;
    LITERAL("\x0a\x02" "\x08\x01"); // Response.error: invalid
    return;
  }
  n = len - 8;
  u32 head = 8 - 1 - varint_size(n);
  len = head;
  put("\x22", 1); put_varint(n); // Response.verdict
  len = 8 + n;
  for (u32 i = 0; i < len - head; i++) out[i] = out[i + head];
  len -= head;
}

// ---- The exports. Every call starts from the snapshot of memory taken after CONFIGURE. ----

void EXPORT(amygdala_abi_v1)(void) {}

extern u8 __heap_base; // where the linker says free memory starts

u32 EXPORT(amygdala_alloc)(u32 n) {
  u64 need = (u64)(u32)&__heap_base + n, have = (u64)__builtin_wasm_memory_size(0) << 16;
  if (need > have && __builtin_wasm_memory_grow(0, (u32)((need - have + 65535) >> 16)) == (u32)-1) return 0;
  return (u32)&__heap_base;
}

u64 EXPORT(amygdala_call)(u32 op, u32 ptr, u32 size) {
  span request = {(const u8 *)ptr, (const u8 *)ptr + size};
  len = 0;
  switch (op) {
  case 1: // DESCRIBE: Response.manifest
    LITERAL("\x12\x36" "\x0a\x05zebra" "\x12\x05" "1.0.0" "\x18\x01" "\x20\x01" "\x28\x01" "\x32\x03\x01\x02\x10"
            "\x3a\x14" "finds the word zebra" "\x5a\x02\x08\x01" "\x62\x01\x01");
    break;
  case 2: // CONFIGURE: Response.configured, empty: there is nothing to set
    LITERAL("\x1a\x00");
    break;
  case 16:
    detect(request);
    break;
  default: // Response.error: unsupported
    LITERAL("\x0a\x02" "\x08\x02");
  }
  return (u64)(u32)out << 32 | len;
}
