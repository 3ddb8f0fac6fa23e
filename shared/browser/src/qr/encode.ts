/**
 * Encodes `text` as a QR code (ISO/IEC 18004): byte mode, error correction M, versions 1 to 20. `modules[row][column]`
 * is true for a dark module; no quiet zone. Throws RangeError if the text is too long.
 */
export function encodeQr(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text);
  const version = blockTable.findIndex((_, index) => capacity(index + 1) >= bytes.length) + 1;
  if (version === 0) throw new RangeError(`too long for a QR code: ${bytes.length} bytes`);
  const codewords = interleave(toCodewords(bytes, version), version);
  const drawn = maskRules.map((rule, mask) => draw(codewords, version, rule, mask));
  return drawn.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

/** Per version, level M: total codewords, blocks, correction codewords per block (tables 7 and 9). */
const blockTable: readonly (readonly [total: number, blocks: number, correction: number])[] = [
  [26, 1, 10],
  [44, 1, 16],
  [70, 1, 26],
  [100, 2, 18],
  [134, 2, 24],
  [172, 4, 16],
  [196, 4, 18],
  [242, 4, 22],
  [292, 5, 22],
  [346, 5, 26],
  [404, 5, 30],
  [466, 8, 22],
  [532, 9, 22],
  [581, 9, 24],
  [655, 10, 24],
  [733, 10, 28],
  [815, 11, 28],
  [901, 13, 26],
  [991, 14, 26],
  [1085, 16, 26],
];

const lengthBits = (version: number) => (version < 10 ? 8 : 16);
function dataCodewords(version: number): number {
  const [total, blocks, correction] = blockTable[version - 1]!;
  return total - blocks * correction;
}
const capacity = (version: number) => Math.floor((dataCodewords(version) * 8 - 4 - lengthBits(version)) / 8);

/** Mode, length, data, terminator and padding (§7.4). */
function toCodewords(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  push(0b0100, 4);
  push(bytes.length, lengthBits(version));
  for (const byte of bytes) push(byte, 8);
  const wanted = dataCodewords(version) * 8;
  push(0, Math.min(4, wanted - bits.length));
  push(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < wanted; pad ^= 0xec ^ 0x11) push(pad, 8);
  const codewords: number[] = [];
  for (let at = 0; at < bits.length; at += 8) codewords.push(Number.parseInt(bits.slice(at, at + 8).join(''), 2));
  return codewords;
}

/** Splits the data into blocks, adds error correction, interleaves (§7.5, §7.6). */
function interleave(data: number[], version: number): number[] {
  const [, count, correction] = blockTable[version - 1]!;
  const short = Math.floor(data.length / count);
  const longFrom = count - (data.length % count);
  let at = 0;
  const blocks = Array.from({ length: count }, (_, index) =>
    data.slice(at, (at += short + (index < longFrom ? 0 : 1))),
  );
  const corrections = blocks.map((block) => remainder(block, correction));
  const column = (rows: number[][], index: number) => rows.flatMap((row) => row[index] ?? []);
  return [
    ...Array.from({ length: short + 1 }, (_, index) => column(blocks, index)),
    ...Array.from({ length: correction }, (_, index) => column(corrections, index)),
  ].flat();
}

/** Multiplication in GF(2⁸) modulo x⁸+x⁴+x³+x²+1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product >> 7 ? 0x11d : 0);
    if ((b >> bit) & 1) product ^= a;
  }
  return product;
}

/** Reed–Solomon correction codewords of one block (annex A). */
function remainder(block: number[], degree: number): number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < degree; power++, root = multiply(root, 2)) {
    const shifted = [...generator, 0];
    generator = shifted.map((value, index) => value ^ multiply(index > 0 ? generator[index - 1]! : 0, root));
  }
  const rest = new Array<number>(degree).fill(0);
  for (const byte of block) {
    const factor = byte ^ rest.shift()!;
    rest.push(0);
    for (let index = 0; index < degree; index++) rest[index]! ^= multiply(generator[index + 1]!, factor);
  }
  return rest;
}

/** Modules inverted by each of the eight masks (table 10). */
const maskRules: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
];

function draw(
  codewords: number[],
  version: number,
  rule: (r: number, c: number) => boolean,
  mask: number,
): boolean[][] {
  const size = version * 4 + 17;
  const modules: (boolean | undefined)[][] = Array.from({ length: size }, () => new Array(size).fill(undefined));
  const set = (row: number, column: number, dark: boolean) => {
    if (modules[row] && column >= 0 && column < size) modules[row][column] = dark;
  };
  const rings = (row: number, column: number, radius: number, dark: (distance: number) => boolean) => {
    for (let r = -radius; r <= radius; r++)
      for (let c = -radius; c <= radius; c++) set(row + r, column + c, dark(Math.max(Math.abs(r), Math.abs(c))));
  };

  for (let index = 8; index < size - 8; index++) {
    set(6, index, index % 2 === 0);
    set(index, 6, index % 2 === 0);
  }
  const centres = alignment(version, size);
  for (const r of centres)
    for (const c of centres) {
      const inFinder = (r === 6 && (c === 6 || c === size - 7)) || (r === size - 7 && c === 6);
      if (!inFinder) rings(r, c, 2, (distance) => distance !== 1);
    }
  for (const [r, c] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    rings(r, c, 4, (distance) => distance !== 2 && distance !== 4);
  drawFormat(set, size, mask);
  if (version >= 7) drawVersion(set, size, version);

  let at = 0;
  // Two columns at a time, from the right, alternately upwards and downwards; column 6 is the timing pattern.
  for (let right = size - 1, upwards = true; right > 0; right -= right === 8 ? 3 : 2, upwards = !upwards)
    for (let step = 0; step < size; step++)
      for (const column of [right, right - 1]) {
        const row = upwards ? size - 1 - step : step;
        if (modules[row]![column] !== undefined) continue;
        const bit = ((codewords[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
        at++;
        modules[row]![column] = (bit === 1) !== rule(row, column);
      }
  return modules as boolean[][];
}

/** Centres of the alignment patterns (annex E), evenly spaced. */
function alignment(version: number, size: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((size - 13) / (2 * count - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => size - 7 - (count - 2 - index) * step)];
}

type Set = (row: number, column: number, dark: boolean) => void;

/** Appends the BCH check bits (annexes C and D). */
function withCheck(value: number, generator: number, checkBits: number): number {
  let rest = value << checkBits;
  const top = 31 - Math.clz32(generator);
  for (let bit = 31; bit >= top; bit--) if ((rest >>> bit) & 1) rest ^= generator << (bit - top);
  return (value << checkBits) | rest;
}

function drawFormat(set: Set, size: number, mask: number): void {
  // Level M is 00, so the five bits equal the mask.
  const bits = withCheck(mask, 0x537, 10) ^ 0x5412;
  for (let index = 0; index < 15; index++) {
    const dark = ((bits >> index) & 1) === 1;
    if (index < 8) set(8, size - 1 - index, dark);
    else set(size - 15 + index, 8, dark);
    if (index < 6) set(index, 8, dark);
    else if (index < 8) set(index + 1, 8, dark);
    else if (index === 8) set(8, 7, dark);
    else set(8, 14 - index, dark);
  }
  set(size - 8, 8, true);
}

function drawVersion(set: Set, size: number, version: number): void {
  const bits = withCheck(version, 0x1f25, 12);
  for (let index = 0; index < 18; index++) {
    const dark = ((bits >> index) & 1) === 1;
    const [near, far] = [Math.floor(index / 3), size - 11 + (index % 3)];
    set(near, far, dark);
    set(far, near, dark);
  }
}

/** Penalty score (§7.8.3); the mask with the lowest is used. */
function penalty(modules: boolean[][]): number {
  const size = modules.length;
  const columns = modules.map((_, column) => modules.map((row) => row[column]!));
  let score = 0;
  for (const line of [...modules, ...columns]) {
    const text = line.map(Number).join('');
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) score += run.length - 2;
    for (let at = 0; at <= size - 11; at++) if (/^(10111010000|00001011101)/.test(text.slice(at, at + 11))) score += 40;
  }
  for (let row = 1; row < size; row++)
    for (let column = 1; column < size; column++) {
      const dark = modules[row]![column];
      if (
        dark === modules[row]![column - 1] &&
        dark === modules[row - 1]![column] &&
        dark === modules[row - 1]![column - 1]
      )
        score += 3;
    }
  const dark = modules.flat().filter(Boolean).length / (size * size);
  return score + Math.floor(Math.abs(dark - 0.5) * 20) * 10;
}
