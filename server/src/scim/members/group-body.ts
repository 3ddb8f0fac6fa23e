import type { Request } from 'express';
import { foldCase } from '../../domain/users/login.ts';
import { checkType, maxBodyBytes, tooLarge } from '../body.ts';
import { maxDepth, parseBody, parseElement, tooDeep } from '../json.ts';
import { badRequest, ScimError } from '../scim-error.ts';
import { memberIds } from './member-ids.ts';

/**
 * Maximum body size of a PUT of a group, in bytes: twice the largest response, since clients may add spaces and escape
 * characters of the group that they read. Without its members, a body may have {@link maxBodyBytes} (decisions/0310).
 */
export const maxGroupBytes = 64 * 1024 * 1024;
/** More than the largest response can have. */
const maxMembers = 250_000;

/**
 * Reads the body of a group as `readBody` does, except that the elements of `members` are parsed as they arrive: of each,
 * only its id is kept. Refuses like `readBody`, and as {@link memberIds}.
 */
export function readGroupBody(req: Request): Promise<Record<string, unknown>> {
  checkType(req);
  if (Number(req.get('content-length') ?? 0) > maxGroupBytes) throw tooLarge(maxGroupBytes);
  return new Promise((resolve, reject) => {
    const body = new GroupBody();
    let isWhole = false;
    let isRefused = false;
    const attempt = (step: () => void) => {
      if (isRefused) return;
      try {
        step();
      } catch (error) {
        isRefused = true;
        // The rest is read and dropped, as by `readBody`; it may be endless.
        reject(error instanceof ScimError ? withClose(error) : error);
      }
    };
    const giveUp = () => {
      if (!isWhole) reject(badRequest('invalidSyntax', 'The body is incomplete.'));
    };
    if (req.destroyed) return giveUp();
    req.on('data', (chunk: Buffer) => {
      attempt(() => body.write(chunk));
      // Node would read up to two megabytes before it serves another connection.
      req.pause();
      setImmediate(() => req.resume());
    });
    req.on('end', () => {
      isWhole = true;
      attempt(() => resolve(body.end()));
    });
    req.on('error', giveUp);
    req.on('close', giveUp);
  });
}

function withClose({ status, message, scimType, headers }: ScimError): ScimError {
  return new ScimError(status, message, { scimType, headers: { ...headers, Connection: 'close' } });
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const space = 0x20;

/** A group's JSON that arrives in chunks. */
export class GroupBody {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private bytes = 0;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** The text apart from the elements of members: a whole JSON text with an empty list. */
  private rest = '';
  /** The last string outside of members, and the name before the next value. */
  private lastString = '';
  private name: string | undefined;
  /** The text of the current element of members. */
  private element: string | undefined;
  private isFirst = true;
  private listName = '';
  private ids: string[] = [];
  private readonly lists = new Map<string, string[]>();

  /** Throws 413, `invalidSyntax`, `invalidValue`. */
  write(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.bytes > maxGroupBytes) throw tooLarge(maxGroupBytes);
    this.scan(this.decoded(chunk));
    if (this.rest.length > maxBodyBytes || (this.element?.length ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  }

  /** The body with the ids of its members. Throws `invalidSyntax`. */
  end(): Record<string, unknown> {
    this.scan(this.decoded());
    if (this.element !== undefined) throw notJson();
    const body = parseBody(this.rest);
    for (const [name, ids] of this.lists) body[name] = ids;
    return body;
  }

  private decoded(chunk?: Uint8Array): string {
    try {
      return chunk ? this.decoder.decode(chunk, { stream: true }) : this.decoder.decode();
    } catch {
      throw badRequest('invalidSyntax', 'The body is not UTF-8.');
    }
  }

  private scan(text: string): void {
    // The part of the text that belongs to `rest`, or to the element, begins here.
    let from = 0;
    const take = (to: number) => {
      const part = text.slice(from, to);
      from = to;
      if (this.element === undefined) this.rest += part;
      else this.element += part;
    };
    for (let at = 0; at < text.length; at += 1) {
      if (this.isInString) {
        const end = this.endOfString(text, at);
        if (this.element === undefined && this.depth === 1) this.lastString += text.slice(at, end);
        at = end - 1;
        continue;
      }
      switch (text.charCodeAt(at)) {
        case quote:
          this.isInString = true;
          this.lastString = '"';
          this.name = undefined;
          break;
        case colon:
          if (this.element === undefined && this.depth === 1) this.name = nameOf(this.lastString);
          break;
        case openList:
        case openObject:
          this.depth += 1;
          if (this.depth > maxDepth) throw tooDeep();
          if (this.isMembers(text, at)) {
            take(at + 1);
            this.begin();
          }
          this.name = undefined;
          break;
        case closeList:
        case closeObject:
          if (this.element !== undefined && this.depth === 2) {
            if (text.charCodeAt(at) !== closeList) throw notJson();
            take(at);
            this.endElement(true);
            this.lists.set(this.listName, this.ids);
            this.element = undefined;
          }
          this.depth -= 1;
          break;
        case comma:
          if (this.element !== undefined && this.depth === 2) {
            take(at);
            from = at + 1;
            this.endElement(false);
            this.element = '';
          }
          break;
        default:
          if (text.charCodeAt(at) > space) this.name = undefined;
      }
    }
    take(text.length);
  }

  /** The position after the string that continues at `at`, or the end of the text. */
  private endOfString(text: string, at: number): number {
    for (let position = at; position < text.length; position += 1) {
      const character = text.charCodeAt(position);
      if (this.isEscaped) this.isEscaped = false;
      else if (character === backslash) this.isEscaped = true;
      else if (character === quote) {
        this.isInString = false;
        return position + 1;
      }
    }
    return text.length;
  }

  private isMembers(text: string, at: number): boolean {
    if (this.element !== undefined || this.depth !== 2 || text.charCodeAt(at) !== openList) return false;
    return this.name !== undefined && foldCase(this.name) === 'members';
  }

  private begin(): void {
    this.listName = this.name ?? '';
    this.element = '';
    this.isFirst = true;
    this.ids = [];
  }

  private endElement(isLast: boolean): void {
    const text = this.element ?? '';
    const isBlank = /^[ \t\r\n]*$/.test(text);
    if (isBlank && !(isLast && this.isFirst)) throw notJson();
    this.isFirst = false;
    if (isBlank) return;
    for (const id of memberIds([parseElement(text)])) this.ids.push(id);
    if (this.ids.length <= maxMembers) return;
    throw new ScimError(413, `The group has more than ${maxMembers} members. Add them by several PATCH requests.`);
  }
}

/** The value of a string literal; undefined if it is not valid: the rest is then refused at its end. */
function nameOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

const notJson = () => badRequest('invalidSyntax', 'The body is not JSON.');
