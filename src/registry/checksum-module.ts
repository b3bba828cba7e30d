// Assembles a WebAssembly module that writes the checksummed form of an address in one call: half of the cost of a general
// Keccak library is in its calls.

type Code = readonly number[];

// The module's memory.
const ROUND_CONSTANTS = 0;
/** The two digits of every byte. */
const DIGITS = 256;
const HASH = 768;
const INPUT = 832;
const OUTPUT = 896;

const unsigned = (value: number): Code => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]);
function signed(value: bigint): Code {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const isLast = rest === ((low & 0x40) === 0 ? 0n : -1n);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}

const get = (local: number): Code => [0x20, ...unsigned(local)];
const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
const i32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
const i64 = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))];
const binary =
  (operation: number) =>
  (a: Code, b: Code): Code => [...a, ...b, operation];
const isLess = binary(0x49);
const add = binary(0x6a);
const subtract = binary(0x6b);
const and = binary(0x71);
const or = binary(0x72);
const shiftLeft = binary(0x74);
const shiftRight = binary(0x76);
const and64 = binary(0x83);
const xor64 = binary(0x85);
const rotate64 = binary(0x89);
const load =
  (operation: number) =>
  (pointer: Code, offset: number): Code => [...pointer, operation, 0, ...unsigned(offset)];
const load64 = load(0x29);
const load8 = load(0x2d);
const load16 = load(0x2f);
const store =
  (operation: number) =>
  (pointer: Code, offset: number, value: Code): Code => [...pointer, ...value, operation, 0, ...unsigned(offset)];
const store64 = store(0x37);
const store16 = store(0x3b);
const repeatWhile = (condition: Code, body: Code): Code => [0x03, 0x40, ...body, ...condition, 0x0d, 0, 0x0b];

// Locals: two of 32 bits, then 55 of 64 bits.
const [AT, PAIR] = [0, 1] as const;
const lane = (x: number, y: number) => 2 + (x % 5) + 5 * y;
const moved = (x: number, y: number) => 27 + (x % 5) + 5 * y;
const parity = (x: number) => 52 + (x % 5);
const FIVE = [0, 1, 2, 3, 4] as const;

/** One round of Keccak-f[1600]. `AT` is the offset of its constant. */
function keccakRound(): Code {
  const code: Code[] = [];
  for (const x of FIVE) code.push(set(parity(x), FIVE.map((y) => get(lane(x, y))).reduce(xor64)));
  for (const x of FIVE) {
    const mixed = xor64(get(parity(x + 4)), rotate64(get(parity(x + 1)), i64(1n)));
    for (const y of FIVE) code.push(set(lane(x, y), xor64(get(lane(x, y)), mixed)));
  }
  code.push(set(moved(0, 0), get(lane(0, 0))));
  let [x, y] = [1, 0];
  for (let step = 1; step <= 24; step++) {
    const [nextX, nextY] = [y, (2 * x + 3 * y) % 5];
    const distance = BigInt(((step * (step + 1)) / 2) % 64);
    code.push(set(moved(nextX, nextY), rotate64(get(lane(x, y)), i64(distance))));
    [x, y] = [nextX, nextY];
  }
  for (const row of FIVE) {
    for (const column of FIVE) {
      const others = and64(xor64(get(moved(column + 1, row)), i64(-1n)), get(moved(column + 2, row)));
      code.push(set(lane(column, row), xor64(get(moved(column, row)), others)));
    }
  }
  code.push(set(lane(0, 0), xor64(get(lane(0, 0)), load64(get(AT), ROUND_CONSTANTS))));
  return code.flat();
}

/** Runs the body for each value of `AT` from 0 up to an end. */
const forEachAt = (end: number, step: number, body: Code): Code => [
  ...set(AT, i32(0)),
  ...repeatWhile(isLess(get(AT), i32(end)), [...body, ...set(AT, add(get(AT), i32(step)))]),
];

/** 40 digits fill five lanes; the padding of a block of 136 bytes is in the lanes 5 and 16. */
const firstValue = (index: number): Code => {
  if (index < 5) return load64(i32(OUTPUT), 8 * index);
  return i64(index === 5 ? 1n : index === 16 ? 1n << 63n : 0n);
};

/** A letter becomes a capital where its own nibble of the hash is 8 or more: bit 0x40 is set in letters only. */
function capitalize(): Code {
  const hash = load8(get(AT), HASH);
  const isHigh = or(and(shiftRight(hash, i32(2)), i32(0x20)), and(shiftLeft(hash, i32(10)), i32(0x2000)));
  const isLetter = and(shiftRight(get(PAIR), i32(1)), i32(0x2020));
  return subtract(get(PAIR), and(isLetter, isHigh));
}

function checksumFunction(): Code {
  const pair = shiftLeft(get(AT), i32(1));
  return [
    ...[2, 2, 0x7f, 55, 0x7e],
    ...forEachAt(20, 1, store16(pair, OUTPUT, load16(shiftLeft(load8(get(AT), INPUT), i32(1)), DIGITS))),
    ...Array.from({ length: 25 }, (_, index) => set(lane(index, Math.floor(index / 5)), firstValue(index))).flat(),
    ...forEachAt(24 * 8, 8, keccakRound()),
    ...[0, 1, 2].flatMap((index) => store64(i32(HASH), 8 * index, get(lane(index, 0)))),
    ...forEachAt(20, 1, [...set(PAIR, load16(pair, OUTPUT)), ...store16(pair, OUTPUT, capitalize())]),
    0x0b,
  ];
}

function assemble(): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
  const body = checksumFunction();
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, 1, 0x6d, 2, 0, 1, 0x66, 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

/** The constants of Keccak's rounds, from its shift register. */
function writeRoundConstants(memory: DataView): void {
  let register = 1;
  for (let round = 0; round < 24; round++) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** bit - 1);
      register = register < 0x80 ? register << 1 : (register << 1) ^ 0x171;
    }
    memory.setBigUint64(ROUND_CONSTANTS + 8 * round, constant, true);
  }
}

export interface ChecksumModule {
  /** The 20 bytes of an address. */
  readonly input: Uint8Array;
  /** Its 40 digits in the letter case of their checksum, after a run. */
  readonly output: Buffer;
  run(): void;
}

export function createChecksumModule(): ChecksumModule {
  const { m, f } = new WebAssembly.Instance(new WebAssembly.Module(assemble())).exports;
  const { buffer } = m as WebAssembly.Memory;
  writeRoundConstants(new DataView(buffer));
  const digits = Buffer.from(buffer, DIGITS, 512);
  for (let byte = 0; byte < 256; byte++) digits.write(byte.toString(16).padStart(2, '0'), 2 * byte, 'latin1');
  return { input: new Uint8Array(buffer, INPUT, 20), output: Buffer.from(buffer, OUTPUT, 40), run: f as () => void };
}
