// A reader and a writer of JSON that allocate nothing: a plugin needs no more, and every call stays inside fixed memory.

// MAX_DEPTH is how deep brackets may nest: 32 messages, each in a list. Deeper input is malformed, which also bounds the recursion below.
const MAX_DEPTH: i32 = 64;

// Reader walks over one JSON text in memory. Strings are decoded where they lie, since what is decoded is never longer: a reader uses up
// its text, and nothing may be read twice. The first mistake makes `failed` true for good, and every loop over the text ends there.
export class Reader {
  private at: usize = 0;
  private end: usize = 0;
  private depth: i32 = 0;
  failed: bool = false;

  // The string, or the bytes, that were read last.
  ptr: usize = 0;
  len: usize = 0;

  open(ptr: usize, len: usize): void {
    this.at = ptr;
    this.end = ptr + len;
    this.depth = 0;
    this.failed = false;
    this.ptr = ptr;
    this.len = 0;
  }

  // fail ends the reading. It returns false, so that a loop's condition can end with it.
  fail(): bool {
    this.failed = true;
    this.at = this.end;
    return false;
  }

  // atEnd tells whether nothing but white space is left, and fails otherwise: a message ends where its object ends.
  atEnd(): bool {
    this.space();
    return (this.at == this.end && !this.failed) || this.fail();
  }

  // ---- Objects and lists ----
  //
  //   if (r.enter(OBJECT)) while (r.key()) { if (r.is("name")) ... else r.skip(); }
  //
  // enter reads the bracket, or null, which stands for a message or list that is not there. key and item read up to the next value, which
  // must then be read or skipped, and return false after the closing bracket.

  enter(bracket: u8): bool {
    if (this.absent()) return false;
    if (this.take() != bracket || ++this.depth > MAX_DEPTH) return this.fail();
    this.first = true;
    return true;
  }

  key(): bool {
    if (!this.more(0x7d /* } */)) return false;
    if (!this.text()) return false;
    this.space();
    return this.take() == 0x3a /* : */ || this.fail();
  }

  item(): bool {
    return this.more(0x5d /* ] */);
  }

  private first: bool = false; // nothing was read since the opening bracket

  private more(bracket: u8): bool {
    this.space();
    let first = this.first;
    this.first = false;
    if (this.peek() == bracket) {
      this.at++;
      this.depth--;
      return false;
    }
    if (first) return this.at < this.end || this.fail();
    if (this.take() != 0x2c /* , */) return this.fail();
    this.space();
    return this.at < this.end || this.fail();
  }

  // is compares the string read last with a name of ASCII letters.
  is(name: string): bool {
    if (this.len != <usize>name.length) return false;
    for (let i: usize = 0; i < this.len; i++) {
      if (load<u8>(this.ptr + i) != <u8>name.charCodeAt(<i32>i)) return false;
    }
    return true;
  }

  // ---- Values ----

  // absent reads null and returns true, or reads nothing.
  absent(): bool {
    this.space();
    if (this.peek() != 0x6e /* n */) return false;
    this.word("null");
    return true;
  }

  // text reads a string into ptr and len, as UTF-8.
  text(): bool {
    this.space();
    if (this.take() != 0x22) return this.fail();
    let to = this.at;
    this.ptr = to;
    while (this.at < this.end) {
      let c = this.take();
      if (c == 0x22) {
        this.len = to - this.ptr;
        return true;
      }
      if (c < 0x20) break; // control characters must be escaped
      if (c == 0x5c) {
        to = this.escape(to);
      } else {
        store<u8>(to++, c);
      }
    }
    return this.fail();
  }

  // bytes reads a string of base64, with or without padding, into ptr and len; null is no bytes.
  bytes(): bool {
    this.len = 0;
    if (this.absent()) return !this.failed;
    if (!this.text()) return false;
    let from = this.ptr, end = from + this.len, to = from;
    while (end > from && end + 2 > from + this.len && load<u8>(end - 1) == 0x3d /* = */) end--;
    let bits: u32 = 0, have = 0;
    for (; from < end; from++) {
      let digit = base64(load<u8>(from));
      if (digit < 0) return this.fail();
      bits = (bits << 6) | <u32>digit;
      have += 6;
      if (have < 8) continue;
      have -= 8;
      store<u8>(to++, <u8>(bits >> have));
    }
    if (have == 6) return this.fail(); // a single digit says nothing
    this.len = to - this.ptr;
    return true;
  }

  // skip reads one value of any type: this is how members that are not known are ignored.
  skip(): void {
    this.space();
    let c = this.peek();
    if (c == 0x7b /* { */) {
      this.enter(c);
      while (this.key()) this.skip();
    } else if (c == 0x5b /* [ */) {
      this.enter(c);
      while (this.item()) this.skip();
    } else if (c == 0x22) {
      this.text();
    } else if (c == 0x74 /* t */) {
      this.word("true");
    } else if (c == 0x66 /* f */) {
      this.word("false");
    } else if (c == 0x6e /* n */) {
      this.word("null");
    } else {
      this.number();
    }
  }

  private number(): void {
    if (this.peek() == 0x2d /* - */) this.at++;
    let zero = this.peek() == 0x30;
    if (this.digits() > 1 && zero) this.fail();
    if (this.peek() == 0x2e /* . */) {
      this.at++;
      this.digits();
    }
    if ((this.peek() | 0x20) == 0x65 /* e */) {
      this.at++;
      if (this.peek() == 0x2b || this.peek() == 0x2d) this.at++;
      this.digits();
    }
  }

  // digits reads at least one digit and returns how many there were.
  private digits(): usize {
    let start = this.at;
    while (isDigit(this.peek())) this.at++;
    if (this.at == start) this.fail();
    return this.at - start;
  }

  // escape decodes what follows a backslash, writes it, and returns the address after it.
  private escape(to: usize): usize {
    let c = this.take();
    if (c == 0x75 /* u */) return this.unicode(to);
    if (c == 0x6e) c = 0x0a;
    else if (c == 0x74) c = 0x09;
    else if (c == 0x72) c = 0x0d;
    else if (c == 0x62) c = 0x08;
    else if (c == 0x66) c = 0x0c;
    else if (c != 0x22 && c != 0x5c && c != 0x2f) this.fail();
    store<u8>(to, c);
    return to + 1;
  }

  // unicode decodes \uXXXX, or two of them that make a surrogate pair. It writes at most 3 bytes for 6, or 4 for 12.
  private unicode(to: usize): usize {
    let c = this.hex4();
    if (c >= 0xd800 && c < 0xdc00) {
      let paired = this.take() == 0x5c && this.take() == 0x75;
      let low = this.hex4();
      if (!paired || low < 0xdc00 || low > 0xdfff) this.fail();
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
      this.fail();
    }
    if (this.failed) return to;
    if (c < 0x80) {
      store<u8>(to++, <u8>c);
      return to;
    }
    if (c < 0x800) {
      store<u8>(to++, <u8>(0xc0 | (c >> 6)));
    } else {
      if (c < 0x10000) {
        store<u8>(to++, <u8>(0xe0 | (c >> 12)));
      } else {
        store<u8>(to++, <u8>(0xf0 | (c >> 18)));
        store<u8>(to++, <u8>(0x80 | ((c >> 12) & 0x3f)));
      }
      store<u8>(to++, <u8>(0x80 | ((c >> 6) & 0x3f)));
    }
    store<u8>(to++, <u8>(0x80 | (c & 0x3f)));
    return to;
  }

  private hex4(): u32 {
    let value: u32 = 0;
    for (let i = 0; i < 4; i++) {
      let c = this.take();
      if (isDigit(c)) {
        value = (value << 4) | (c - 0x30);
      } else {
        c |= 0x20;
        if (c < 0x61 || c > 0x66) this.fail();
        value = (value << 4) | (c - 0x57);
      }
    }
    return value;
  }

  private word(expected: string): void {
    for (let i = 0; i < expected.length; i++) {
      if (this.take() != <u8>expected.charCodeAt(i)) this.fail();
    }
  }

  private space(): void {
    while (this.at < this.end) {
      let c = load<u8>(this.at);
      if (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09) return;
      this.at++;
    }
  }

  // peek and take give 0 at the end, which is a mistake in every place where they are used.
  private peek(): u8 {
    return this.at < this.end ? load<u8>(this.at) : 0;
  }

  private take(): u8 {
    if (this.at < this.end) return load<u8>(this.at++);
    this.fail();
    return 0;
  }
}

export const OBJECT: u8 = 0x7b;
export const LIST: u8 = 0x5b;

function isDigit(c: u8): bool {
  return c >= 0x30 && c <= 0x39;
}

// base64 is the value of one digit of the standard alphabet, or -1.
function base64(c: u8): i32 {
  if (c >= 0x41 && c <= 0x5a) return <i32>c - 0x41;
  if (c >= 0x61 && c <= 0x7a) return <i32>c - 0x61 + 26;
  if (isDigit(c)) return <i32>c - 0x30 + 52;
  if (c == 0x2b) return 62;
  return c == 0x2f ? 63 : -1;
}

// Writer writes JSON into a fixed room. What does not fit is left out: the answer is no JSON then and fails, so whoever writes minds left.
export class Writer {
  private at: usize = 0;
  private start: usize = 0;
  private end: usize = 0;

  open(ptr: usize, len: usize): void {
    this.at = this.start = ptr;
    this.end = ptr + len;
  }

  // put writes text of ASCII as it is, such as a whole object without its values.
  put(text: string): Writer {
    for (let i = 0; i < text.length; i++) this.byte(<u8>text.charCodeAt(i));
    return this;
  }

  number(n: u32): Writer {
    if (n > 9) this.number(n / 10);
    return this.byte(<u8>(0x30 + (n % 10)));
  }

  // base64 writes text of ASCII as a field of type bytes: a string of base64 with padding.
  base64(text: string): Writer {
    this.byte(0x22);
    for (let i = 0; i < text.length; i += 3) {
      let left = text.length - i;
      let bits = text.charCodeAt(i) << 16;
      if (left > 1) bits |= text.charCodeAt(i + 1) << 8;
      if (left > 2) bits |= text.charCodeAt(i + 2);
      this.byte(digit(bits >> 18)).byte(digit(bits >> 12));
      this.byte(left > 1 ? digit(bits >> 6) : 0x3d).byte(left > 2 ? digit(bits) : 0x3d);
    }
    return this.byte(0x22);
  }

  // left is how many bytes still fit.
  left(): usize {
    return this.end - this.at;
  }

  // packed is the answer of amygdala_call.
  packed(): u64 {
    return (<u64>this.start << 32) | <u64>(this.at - this.start);
  }

  private byte(c: u8): Writer {
    if (this.at < this.end) store<u8>(this.at++, c);
    return this;
  }
}

function digit(bits: i32): u8 {
  return <u8>"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".charCodeAt(bits & 63);
}
