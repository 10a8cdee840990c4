// The AssemblyScript plugin that the engine's tests run: the first byte of a request says what to do.
let room: ArrayBuffer = new ArrayBuffer(0);
let calls: u32 = 0;

export function amygdala_abi_v1(): void {}

export function amygdala_alloc(n: i32): usize {
  room = new ArrayBuffer(n);
  return changetype<usize>(room);
}

export function amygdala_call(op: i32, ptr: usize, n: i32): u64 {
  const what = load<u8>(ptr);
  if (what == 101) {
    // 'e': echo
    const out = new Uint8Array(n);
    memory.copy(out.dataStart, ptr, n);
    out[0] = 61;
    return ((out.dataStart as u64) << 32) | (n as u64);
  }
  if (what == 99) {
    // 'c': count calls
    calls++;
    const out = new Uint8Array(1);
    out[0] = calls as u8;
    return ((out.dataStart as u64) << 32) | 1;
  }
  if (what == 112) unreachable();
  while (true) {}
}
