import type { Actor } from '../domain/kernel/actor.ts';
import type { Sql } from '../domain/kernel/statement.ts';
import type { QueryContext } from './filter/operand.ts';
import { ScimError } from './scim-error.ts';

/** Who asks, and where the project's SCIM service stands. */
export interface Caller extends QueryContext {
  actor: Actor;
  /** Where the token was remembered: what the statement that does the work asks of it. */
  grant?: Sql | undefined;
}

/** What an operation answers, in HTTP or within a Bulk response. */
export interface Answer {
  status: 200 | 201 | 204;
  body?: object;
  /** Of the resource, absolute. */
  location?: string;
  /** Its ETag. */
  version?: string;
  resourceId?: string;
}

export const listResponseSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Throws 412 where `If-Match` (or `version` in Bulk) does not name the resource as it is. */
export function checkVersion(wanted: string | undefined, version: number): void {
  if (wanted === undefined) return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  // Behind the dash stands what is shown of others: a change there is no conflict.
  const numbers = tags.map((tag) => /^(?:W\/)?"?(\d+)(?:-[\w-]+)?"?$/i.exec(tag)?.[1]);
  if (tags.includes('*') || numbers.includes(String(version))) return;
  throw new ScimError(412, 'The resource has changed since the version in If-Match.');
}

/** Whether `If-None-Match` names this very representation (RFC 7644 §3.14). */
export function isUnchanged(known: string | undefined, version: string | undefined): boolean {
  if (known === undefined || version === undefined) return false;
  const bare = (tag: string) => tag.trim().replace(/^W\//i, '').replaceAll('"', '');
  return known.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(version));
}
