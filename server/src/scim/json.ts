import { badRequest } from './scim-error.ts';

/** Maximum nesting of a body; SCIM's own messages need eight levels. */
export const maxDepth = 40;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body strictly: UTF-8, a JSON object, limited depth, no duplicate names (parsers differ in which of the two
 * they keep). Throws `invalidSyntax`.
 */
export function parseBody(body: Uint8Array | string): Record<string, unknown> {
  const text = typeof body === 'string' ? body : decode(body);
  checkDepth(text);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('invalidSyntax', 'The body must be a JSON object.');
  }
  checkNames(text);
  return value as Record<string, unknown>;
}

/** Parses one value of a body as strictly, except for its depth. */
export function parseElement(text: string): unknown {
  const value = parse(text);
  checkNames(text);
  return value;
}

export function tooDeep() {
  return badRequest('invalidSyntax', `The body is nested more than ${maxDepth} levels deep.`);
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest('invalidSyntax', 'The body is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalidSyntax', 'The body is not JSON.');
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** The position after the string that starts at `at`. */
function behindString(text: string, at: number): number {
  let position = at + 1;
  while (position < text.length && text.charCodeAt(position) !== quote) {
    position += text.charCodeAt(position) === backslash ? 2 : 1;
  }
  return position + 1;
}

/** Runs before JSON.parse, whose recursion a deep body could exhaust. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = behindString(text, at) - 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > maxDepth) throw tooDeep();
    } else if (character === '}' || character === ']') depth -= 1;
  }
}

const beforeValue = /[ \t\r\n]*:/y;

/** Expects valid JSON: a string before a colon is a name. */
function checkNames(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === '{') open.push(new Set());
    else if (character === '[') open.push(undefined);
    else if (character === '}' || character === ']') open.pop();
    if (character !== '"') {
      at += 1;
      continue;
    }
    const end = behindString(text, at);
    const names = open.at(-1);
    beforeValue.lastIndex = end;
    if (names && beforeValue.test(text)) {
      const name = JSON.parse(text.slice(at, end)) as string;
      if (names.has(name)) throw badRequest('invalidSyntax', `${JSON.stringify(name.slice(0, 80))} occurs twice.`);
      names.add(name);
    }
    at = end;
  }
}
