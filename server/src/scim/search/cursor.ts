import { isBase64url } from '../../domain/kernel/base64url.ts';
import { type Clock, isPast, secondsLater } from '../../domain/kernel/clock.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { type Vault, VaultError } from '../../domain/keys/vault.ts';
import { badRequest } from '../scim-error.ts';
import type { SearchRequest } from './search-request.ts';

/** Lifetime of a cursor (RFC 9865 §4, `cursorTimeout`). */
export const cursorTimeoutSeconds = 3600;

/** The end of a page. */
export interface Position {
  id: string;
  /** The order key of that row, as text. */
  key: string | null;
  /** Number of resources when the first page was read. */
  total: number;
  /** The resource type of that row, in a search of all types. */
  type?: string | undefined;
}

/** Cursors contain their whole state, sealed; the server stores none. */
export class Cursors {
  constructor(private readonly deps: { vault: Vault; clock: Clock }) {}

  /** A cursor for one search of one directory, in base64url. @param directory its id */
  seal(directory: string, search: SearchRequest, resourceType: string, position: Position): string {
    const until = secondsLater(this.deps.clock.now(), cursorTimeoutSeconds).getTime();
    const { id, key, total, type = null } = position;
    const text = JSON.stringify([id, key, total, until, search.count, type]);
    return this.deps.vault.seal('scim-cursor', identity(directory, search, resourceType), text).toString('base64url');
  }

  /**
   * Throws `invalidCursor` if it was altered or issued for another search, `expiredCursor`, and `invalidCount` if the pages
   * had another size (RFC 9865 §2.1).
   */
  open(directory: string, search: SearchRequest, resourceType: string, cursor: string): Position {
    const [id, key, total, until, count, type] = this.unseal(identity(directory, search, resourceType), cursor);
    if (isPast(new Date(until), this.deps.clock.now())) {
      throw badRequest(
        'expiredCursor',
        `The cursor is older than ${cursorTimeoutSeconds} s. Begin again with an empty one.`,
      );
    }
    if (count !== search.count) {
      throw badRequest('invalidCount', `count must be ${count}, as in the first request of this search.`);
    }
    return { id, key, total, type: type ?? undefined };
  }

  private unseal(name: string, cursor: string): [string, string | null, number, number, number, string | null] {
    const invalid = () =>
      badRequest('invalidCursor', 'The cursor does not belong to this search. Start with an empty cursor.');
    if (!isBase64url(cursor)) throw invalid();
    try {
      return JSON.parse(this.deps.vault.open('scim-cursor', name, Buffer.from(cursor, 'base64url')).toString());
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      throw invalid();
    }
  }
}

/** Filter and order are part of a cursor's identity (RFC 9865 §2). */
function identity(directory: string, { filter, sortBy, descending }: SearchRequest, resourceType: string): string {
  return digest(JSON.stringify([directory, resourceType, filter ?? null, sortBy ?? null, descending]));
}
