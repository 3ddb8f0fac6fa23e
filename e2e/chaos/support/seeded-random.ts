const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  '',
  ' ',
  [],
  {},
  '__proto__',
  'constructor',
  { toString: 1 },
  '\u0000',
  '\ud800',
  '‮',
  '1'.repeat(400),
  '2026-13-45T99:99:99Z',
  '😀',
];

const pieces = [
  '"',
  "'",
  '\\',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '.',
  ',',
  ':',
  '$',
  '%',
  '%00',
  '%ff',
  '\u0000',
  '\ud83d',
  '\r\n',
  '=',
  '..',
  '@',
  '//',
  '-1',
  '9'.repeat(30),
  'eq',
  ' and ',
  ' or ',
  'not',
  '...',
  '#',
  '&',
  '?',
  '~',
  '*',
  '\u{10ffff}',
  'é',
];

/** Seeded random numbers (Mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  one<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  some<T>(make: () => T): T[] {
    return Array.from({ length: this.below(4) }, make);
  }

  text(): string {
    return Array.from({ length: this.below(12) }, () => this.one([...pieces, 'a', 'b', 'user', '1'])).join('');
  }

  /** A random JSON value. */
  json(depth: number): unknown {
    if (depth === 0 || this.below(3) === 0) return this.one([...odd, this.text(), this.below(1_000)]);
    if (this.below(2) === 0) return this.some(() => this.json(depth - 1));
    const names = ['value', 'type', 'primary', 'display', '$ref', 'a', '', '__proto__', 'id', 'schemas'];
    return Object.fromEntries(this.some(() => [this.one(names), this.json(depth - 1)] as const));
  }

  /** The text with one to four random changes. */
  altered(text: string): string {
    let altered = text;
    for (let changes = 1 + this.below(4); changes > 0; changes -= 1) {
      const at = this.below(altered.length + 1);
      const rest = altered.slice(at + this.below(4));
      const change = this.below(5);
      if (change === 0) altered = altered.slice(0, at) + rest;
      else if (change === 1) altered = altered.slice(0, at) + this.one(pieces) + altered.slice(at);
      else if (change === 2) altered = altered.slice(0, at) + this.one(pieces) + rest;
      else if (change === 3) altered = altered.slice(0, at) + altered.slice(0, at) + rest;
      else altered = this.one([altered.slice(0, at), altered.repeat(1 + this.below(20)), this.text()]);
    }
    return altered.slice(0, 4_000);
  }

  /** Usually unchanged. */
  maybeAltered(text: string): string {
    return this.below(4) === 0 ? this.altered(text) : text;
  }

  /** A compact JWS with an altered header, payload, signature, or whole. */
  alteredToken(token: string): string {
    const parts = token.split('.');
    const at = this.below(3);
    const whole = this.below(4) === 0;
    if (whole || parts.length !== 3) return this.altered(token);
    if (at === 2) return [...parts.slice(0, 2), this.altered(parts[2] ?? '')].join('.');
    const object = JSON.parse(Buffer.from(parts[at] ?? '', 'base64url').toString()) as Record<string, unknown>;
    const names = [
      ...Object.keys(object),
      'alg',
      'typ',
      'kid',
      'crit',
      'jwk',
      'jku',
      'exp',
      'aud',
      'sub',
      'b64',
      'zip',
    ];
    const text = JSON.stringify({ ...object, [this.one(names)]: this.json(2) });
    parts[at] = Buffer.from(this.maybeAltered(text)).toString('base64url');
    return parts.join('.');
  }
}
