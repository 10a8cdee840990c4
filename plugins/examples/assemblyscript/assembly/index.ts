// A detector in AssemblyScript that speaks JSON, written from the text of the ABI alone. It reports the phrase "transfer the whole
// balance", in capitals or not, in every reading of a payload, and one more if the operator's settings name it: {"also": "wire the funds"}.

import { LIST, OBJECT, Reader, Writer } from "./json";

// Ops and error kinds are numbers, in JSON too.
const DESCRIBE: u32 = 1, CONFIGURE: u32 = 2, DETECT: u32 = 16;
const INVALID: u32 = 1, UNSUPPORTED: u32 = 2;

const MAX_FINDINGS: u32 = 256; // of one verdict
const MAX_PHRASE: i32 = 64;
const OUT: i32 = 48 << 10;    // room for the answer
const FINDING: usize = 160;   // no finding is longer
const MAX_ROOM: usize = 1 << 30;

// Made before the snapshot, used by every call.
const out = memory.data(OUT);
const reader = new Reader();
const settings = new Reader();
const writer = new Writer();

// A phrase to find, in small letters.
class Phrase {
  constructor(private ptr: usize) {}

  length: usize = 0;

  // learn takes 4 to 64 characters of ASCII and nothing else.
  learn(ptr: usize, len: usize): bool {
    if (len < 4 || len > <usize>MAX_PHRASE) return false;
    for (let i: usize = 0; i < len; i++) {
      if (load<u8>(ptr + i) > 0x7e) return false;
      store<u8>(this.ptr + i, lower(load<u8>(ptr + i)));
    }
    this.length = len;
    return true;
  }

  // standsAt tells whether the phrase begins at ptr, where left bytes are left of the text. A phrase that was not learnt stands nowhere.
  standsAt(ptr: usize, left: usize): bool {
    if (this.length == 0 || this.length > left) return false;
    for (let i: usize = 0; i < this.length; i++) {
      if (lower(load<u8>(ptr + i)) != load<u8>(this.ptr + i)) return false;
    }
    return true;
  }
}

// CONFIGURE may set the second one, and the snapshot keeps that for every later call.
const phrase = new Phrase(memory.data(MAX_PHRASE));
const also = new Phrase(memory.data(MAX_PHRASE));
const usual = String.UTF8.encode("transfer the whole balance");
phrase.learn(changetype<usize>(usual), usual.byteLength);

// ---- Exports ----

export function amygdala_abi_v1(): void {}

// The room for requests. The minimal runtime frees nothing, so that a larger room is at least twice as large: all rooms together stay
// within four times the largest request.
let room: usize = 0;
let capacity: usize = 64 << 10;

export function amygdala_alloc(size: usize): usize {
  if (size > MAX_ROOM) return 0;
  if (room == 0 || size > capacity) {
    while (capacity < size) capacity *= 2;
    room = heap.alloc(capacity);
  }
  return room;
}

export function amygdala_call(op: u32, ptr: usize, len: usize): u64 {
  writer.open(out, OUT);
  reader.open(ptr, len);
  if (op == DESCRIBE) {
    describe();
  } else if (op == CONFIGURE) {
    configure();
  } else if (op == DETECT) {
    detect();
  } else {
    error(UNSUPPORTED, "this detector answers DESCRIBE, CONFIGURE and DETECT");
  }
  return writer.packed();
}

// error replaces whatever was written by an error.
function error(kind: u32, message: string): void {
  writer.open(out, OUT);
  writer.put('{"error":{"kind":').number(kind).put(',"message":').base64(message).put("}}");
}

// find reads the request up to the value of the one member that belongs to the op. What comes before is skipped, and null is no value.
function find(name: string): bool {
  if (reader.enter(OBJECT)) {
    while (reader.key()) {
      if (!reader.is(name)) reader.skip();
      else if (!reader.absent()) return true;
    }
  }
  return false;
}

// finish reads the rest of the request. The answer holds only if the whole request was well-formed and had the body of its op.
function finish(found: bool): void {
  if (found) {
    while (reader.key()) reader.skip();
  }
  if (!reader.atEnd()) error(INVALID, "the request is not one well-formed JSON object");
  else if (!found) error(INVALID, "the request lacks the body of its op");
}

// ---- DESCRIBE ----

// describe answers what the packed manifest says; `amygdala plugin pack` makes that manifest from this answer.
function describe(): void {
  let found = find("describe");
  if (found) reader.skip();
  writer.put('{"manifest":{"name":"balance-assemblyscript","version":"1.0.0","kind":1,"abi":1,"encoding":2,"ops":[16],');
  writer.put('"summary":"An example in AssemblyScript: finds the phrase \\"transfer the whole balance\\".",');
  writer.put('"license":"Apache-2.0","wake":{"always":true},"threats":[1]}}');
  finish(found);
}

// ---- CONFIGURE ----

function configure(): void {
  let found = find("configure"), understood = true;
  if (found && reader.enter(OBJECT)) {
    while (reader.key()) {
      if (!reader.is("config")) reader.skip();
      else if (reader.bytes() && reader.len > 0) understood = apply(reader.ptr, reader.len);
    }
  }
  writer.put('{"configured":{}}');
  if (!understood) error(INVALID, 'the settings must be like {"also":"..."}, with 4 to 64 characters of ASCII');
  finish(found);
}

// apply reads the operator's settings. A setting that is not known is refused: it would be a promise that nobody keeps.
function apply(ptr: usize, len: usize): bool {
  let understood = true;
  settings.open(ptr, len);
  if (settings.enter(OBJECT)) {
    while (settings.key()) {
      let known = settings.is("also");
      if (known) known = settings.text() && also.learn(settings.ptr, settings.len);
      else settings.skip();
      understood = understood && known;
    }
  }
  return settings.atEnd() && understood;
}

// ---- DETECT ----

let findings: u32 = 0; // in this verdict

function detect(): void {
  let found = find("detect");
  writer.put('{"verdict":{"findings":[');
  findings = 0;
  if (found && reader.enter(OBJECT)) {
    while (reader.key()) {
      if (reader.is("views")) views();
      else reader.skip();
    }
  }
  writer.put("]}}");
  finish(found);
}

function views(): void {
  let index: u32 = 0;
  if (!reader.enter(LIST)) return;
  while (reader.item()) {
    if (reader.enter(OBJECT)) {
      while (reader.key()) {
        if (!reader.is("text")) reader.skip();
        else if (reader.bytes()) scan(index, reader.ptr, reader.len);
      }
    }
    index++;
  }
}

// scan reports the phrases at every place of one text, until the verdict is full.
function scan(view: u32, ptr: usize, len: usize): void {
  let at: usize = 0;
  while (at < len && findings < MAX_FINDINGS && writer.left() >= FINDING) {
    let n = phraseAt(ptr + at, len - at);
    if (n == 0) {
      at++;
      continue;
    }
    if (findings++ > 0) writer.put(",");
    writer.put('{"threat":1,"severity":3,"confidence":0.8,"view":').number(view);
    writer.put(',"start":').number(<u32>at).put(',"end":').number(<u32>(at + n));
    writer.put(',"reason":"asks to move all the money"}');
    at += n;
  }
}

// phraseAt is the length of the phrase that begins at ptr, or 0.
function phraseAt(ptr: usize, left: usize): usize {
  if (phrase.standsAt(ptr, left)) return phrase.length;
  return also.standsAt(ptr, left) ? also.length : 0;
}

function lower(c: u8): u8 {
  return c >= 0x41 && c <= 0x5a ? c + 0x20 : c;
}
