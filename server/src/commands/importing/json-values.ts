import { createReadStream } from 'node:fs';
import { OperatorError } from '../../domain/kernel/problem.ts';

/** An object of a JSON file. */
export interface JsonValue {
  /** The member of the root object that it is, or whose array has it; null: it is in a root array, or is a root itself. */
  member: string | null;
  text: string;
  /** Line at which it begins, from 1. */
  line: number;
}

/** Longest object, in characters: no person comes near it, and memory stays bounded. */
const maxLength = 16 * 1024 * 1024;

/**
 * The objects of a large JSON file, one by one: those of root arrays, and the members of root objects and of their arrays. Several
 * roots may follow each other, as in saved pages of an API. Finds where objects end; `JSON.parse` reads each of them.
 *
 * @param areRoots the root objects themselves, as in JSON lines
 */
export async function* jsonValues(path: string, areRoots = false): AsyncGenerator<JsonValue> {
  const scanner = new Scanner(path, areRoots);
  const chunks = createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 });
  for await (const chunk of chunks) yield* scanner.valuesOf(chunk as string);
  if (scanner.isOpen) throw new OperatorError(`${path} ends in the middle of JSON.`);
}

class Scanner {
  private line = 1;
  /** Open brackets. */
  private open = '';
  private inString = false;
  private isEscaped = false;
  /** The last string directly in a root object. */
  private name = '';
  /** The object that is being read. */
  private value: { parts: string[]; length: number; line: number; depth: number } | null = null;
  private readonly path: string;
  /** The open objects and arrays around an object that is a value. */
  private readonly around: readonly string[];

  constructor(path: string, areRoots: boolean) {
    this.path = path;
    this.around = areRoots ? [''] : ['[', '{', '{['];
  }

  get isOpen(): boolean {
    return this.open !== '' || this.inString;
  }

  *valuesOf(chunk: string): Generator<JsonValue> {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at] as string;
      if (char === '\n') this.line += 1;
      if (this.inString) this.string(char);
      else if (char === '"') this.begin();
      else if (char === '{' || char === '[') {
        if (char === '{' && !this.value && this.around.includes(this.open)) {
          this.value = { parts: [], length: 0, line: this.line, depth: this.open.length };
          from = at;
        }
        this.open += char;
      } else if (char === '}' || char === ']') {
        if (this.open.at(-1) !== (char === '}' ? '{' : '[')) this.refuse('is not JSON');
        this.open = this.open.slice(0, -1);
        if (this.value?.depth !== this.open.length) continue;
        const { line, parts } = this.value;
        this.value = null;
        const member = this.open.startsWith('{') ? this.name : null;
        yield { member, line, text: parts.join('') + chunk.slice(from, at + 1) };
      }
    }
    if (!this.value) return;
    this.value.parts.push(chunk.slice(from));
    this.value.length += chunk.length - from;
    if (this.value.length > maxLength) this.refuse('has an object of more than 16 MB');
  }

  private begin(): void {
    this.inString = true;
    if (this.open === '{' && !this.value) this.name = '';
  }

  private string(char: string): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (char === '\\') this.isEscaped = true;
    else if (char === '"') this.inString = false;
    if (this.inString && this.open === '{' && !this.value && this.name.length < 100) this.name += char;
  }

  private refuse(reason: string): never {
    throw new OperatorError(`${this.path}:${this.line} ${reason}.`);
  }
}
