// A detector in C, written from the text of the ABI alone: no library, no generated code, no allocator.
// It reports the phrase "transfer the whole balance", in capitals or not, in every reading of a payload.
//
// The numbers in here are those of the ABI's reference: field numbers of messages, ops, kinds. See ABI.md.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define EXPORT(name) __attribute__((export_name(#name))) name
#define LENGTH(literal) ((u32)sizeof(literal) - 1)

static const char phrase[] = "transfer the whole balance"; // in small letters
enum { max_findings = 256 };                               // of one Verdict

// ---- Reading protobuf ----

// A reader is what is left of a message. Whatever is malformed makes it empty and sets `malformed`: one flag for a whole call, since
// the answer to a request that cannot be read in full is an error and nothing else.
typedef struct { const u8 *p, *end; } reader;
static int malformed;

static u64 fail(reader *r) {
  malformed = 1;
  r->p = r->end;
  return 0;
}

static u64 read_varint(reader *r) {
  u64 value = 0;
  for (int shift = 0; shift < 64 && r->p < r->end; shift += 7) {
    u8 c = *r->p++;
    if (shift == 63 && c > 1) break; // more than 64 bits
    value |= (u64)(c & 127) << shift;
    if (c < 128) return value;
  }
  return fail(r);
}

static reader read_bytes(reader *r, u64 n) {
  if (n > (u64)(r->end - r->p)) n = fail(r);
  reader value = {r->p, r->p + n};
  r->p += n;
  return value;
}

// A field is its number and, if it is length-delimited (`nested`), its bytes. This detector needs the value of no other field.
typedef struct { u32 number; int nested; reader value; } field;

// next reads one field of any kind, so fields that this detector does not know are skipped. It returns 0 at the end of the message.
static int next(reader *r, field *f) {
  if (r->p == r->end) return 0;
  u64 tag = read_varint(r);
  f->number = (u32)(tag >> 3);
  f->nested = (tag & 7) == 2;
  if (tag >> 32 || f->number == 0) fail(r);
  switch (tag & 7) {
  case 0: read_varint(r); break;
  case 1: read_bytes(r, 8); break;
  case 2: f->value = read_bytes(r, read_varint(r)); break;
  case 5: read_bytes(r, 4); break;
  default: fail(r); // groups, which the ABI does not have
  }
  return !malformed;
}

// is tells whether f is the nested field `number`. That number with a value of another kind is a mistake.
static int is(const field *f, u32 number) {
  if (f->number != number) return 0;
  if (!f->nested) malformed = 1;
  return f->nested;
}

// find returns the nested field `number` of a message, the last one if there are several, after reading the message to its end.
static int find(reader message, u32 number, reader *value) {
  field f;
  int found = 0;
  while (next(&message, &f))
    if (is(&f, number)) *value = f.value, found = 1;
  return found;
}

// ---- Writing protobuf: the answer stays in place until the host calls again. ----

static u8 out[32768]; // 256 findings of at most 72 bytes fit
static u32 size;

static void put(const char *bytes, u32 n) {
  __builtin_memcpy(out + size, bytes, n);
  size += n;
}

static void put_varint(u64 v) {
  for (; v > 127; v >>= 7) out[size++] = (u8)(v | 128);
  out[size++] = (u8)v;
}

static void put_number(u32 field, u64 v) {
  put_varint(field << 3);
  put_varint(v);
}

static void put_float(u32 field, float v) {
  put_varint(field << 3 | 5);
  __builtin_memcpy(out + size, &v, 4); // WebAssembly is little-endian, and so is protobuf
  size += 4;
}

// open begins a nested message and close ends it: what open returned says where. One byte is kept for the length; a longer message is
// moved to make room for its longer length.
static u32 open(u32 field) {
  put_varint(field << 3 | 2);
  return ++size;
}

static void close(u32 start) {
  u32 n = size - start, more = 0;
  for (u32 v = n; v > 127; v >>= 7) more++;
  __builtin_memmove(out + start + more, out + start, n);
  size = start - 1;
  put_varint(n);
  size += n;
}

static void put_text(u32 field, const char *text, u32 n) {
  u32 start = open(field);
  put(text, n);
  close(start);
}

#define PUT_TEXT(field, literal) put_text(field, literal, LENGTH(literal))

// ---- Answers ----

enum { invalid = 1, unsupported = 2 }; // ErrorKind

static void answer_error(u32 kind, const char *message, u32 n) {
  size = 0;            // whatever was written before is not the answer
  u32 error = open(1); // Response.error
  put_number(1, kind);
  put_text(4, message, n);
  close(error);
}

#define ERROR(kind, literal) answer_error(kind, literal, LENGTH(literal))

// describe answers what the packed manifest says; `amygdala plugin pack` makes that manifest from this answer.
static void describe(void) {
  u32 manifest = open(2); // Response.manifest
  PUT_TEXT(1, "balance-c");
  PUT_TEXT(2, "1.0.0");
  put_number(3, 1); // kind: detector
  put_number(4, 1); // abi
  put_number(5, 1); // encoding: protobuf
  PUT_TEXT(6, "\x10"); // ops: DETECT, a packed list of one
  PUT_TEXT(7, "An example in C: finds the phrase \"transfer the whole balance\".");
  PUT_TEXT(8, "Apache-2.0");
  u32 wake = open(11);
  put_number(1, 1); // always: it reads the text itself, not the hits of signatures
  close(wake);
  PUT_TEXT(12, "\x01"); // threats: prompt injection, a packed list of one
  close(manifest);
}

// configure accepts no settings, since there are none: no text, or the empty JSON object. A setting that does nothing would deceive the
// operator, so it is refused.
static void configure(reader body) {
  reader config = {0, 0};
  find(body, 1, &config); // ConfigureRequest.config
  long n = config.end - config.p;
  if (n == 0 || (n == 2 && config.p[0] == '{' && config.p[1] == '}')) close(open(3)); // Response.configured
  else ERROR(invalid, "this detector has no settings: remove its config");
}

static int phrase_at(const u8 *p) {
  for (u32 i = 0; i < LENGTH(phrase); i++) {
    u8 c = p[i];
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    if (c != (u8)phrase[i]) return 0;
  }
  return 1;
}

static void put_finding(u32 view, u32 start) {
  u32 finding = open(1); // Verdict.findings
  put_number(1, 1);      // threat: prompt injection
  put_number(2, 3);      // severity: high
  put_float(3, 0.8f);    // confidence: required, so it would have to be written even if it were 0
  put_number(4, view);
  put_number(5, start);
  put_number(6, start + LENGTH(phrase));
  PUT_TEXT(8, "asks to move all the money");
  close(finding);
}

// scan reports the phrase at every place of one text, `left` times at most, and returns how many more findings have room.
static u32 scan(u32 view, reader text, u32 left) {
  const u8 *p = text.p;
  while (left && text.end - p >= (long)LENGTH(phrase)) {
    if (!phrase_at(p)) { p++; continue; }
    put_finding(view, (u32)(p - text.p));
    p += LENGTH(phrase);
    left--;
  }
  return left;
}

static void detect(reader body) {
  u32 verdict = open(4); // Response.verdict
  u32 view = 0, left = max_findings;
  field f;
  while (next(&body, &f)) {
    reader text = {0, 0};
    if (!is(&f, 5)) continue; // DetectRequest.views
    if (find(f.value, 2, &text)) left = scan(view, text, left); // View.text
    view++;
  }
  close(verdict);
}

// ---- The exports. Every call starts from the snapshot of memory that the host took after CONFIGURE. ----

void EXPORT(amygdala_abi_v1)(void) {}

extern u8 __heap_base; // where the linker says free memory starts

// amygdala_alloc gives out the same room for every request: all memory above the linker's, grown as needed.
u32 EXPORT(amygdala_alloc)(u32 n) {
  u64 need = (u64)(u32)&__heap_base + n, have = (u64)__builtin_wasm_memory_size(0) << 16;
  u32 pages = need > have ? (u32)((need - have + 65535) >> 16) : 0;
  if (pages && __builtin_wasm_memory_grow(0, pages) == (u32)-1) return 0;
  return (u32)&__heap_base;
}

// amygdala_call answers one request. The body's number in Request differs from the op's.
u64 EXPORT(amygdala_call)(u32 op, u32 address, u32 length) {
  reader request = {(const u8 *)address, (const u8 *)address + length}, body;
  size = 0;
  malformed = 0;
  u32 number = op == 1 ? 3 : op == 2 ? 4 : op == 16 ? 5 : 0;
  if (!number) ERROR(unsupported, "this detector answers DESCRIBE, CONFIGURE and DETECT");
  else if (!find(request, number, &body)) ERROR(invalid, "the request lacks the body of its op");
  else if (op == 1) describe();
  else if (op == 2) configure(body);
  else detect(body);
  if (malformed) ERROR(invalid, "the request is not a well-formed message");
  return (u64)(u32)out << 32 | size;
}
