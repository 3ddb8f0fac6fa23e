import type { Actor } from '../domain/kernel/actor.ts';
import type { CustomSchema } from '../domain/users/custom/values.ts';
import type { Home } from '../domain/users/identity/home.ts';
import { listText, OpenResource } from './answers/text.ts';
import type { QueryContext } from './filter/operand.ts';
import { ScimError } from './scim-error.ts';
import type { SearchRequest } from './search/search-request.ts';

/** The directory that sent a request, and the base URL of its SCIM service. */
export interface ScimCaller extends QueryContext {
  actor: Actor;
  /** The definitions of the project's custom attributes. */
  custom: CustomSchema;
}

/** The home whose users and groups the directory manages: every statement of it sees no others. */
export const homeOf = ({ projectId, organizationId }: ScimCaller): Home => ({ projectId, organizationId });

/** The id in its address: of the organization, or of the project. */
export const directoryId = ({ projectId, organizationId }: Home): string => organizationId ?? projectId;

/** The response of an operation, in HTTP or within a Bulk response. */
export interface ScimAnswer {
  status: 200 | 201 | 204;
  /** The body. If it is written as `text`: the part that the record of the request keeps. */
  body?: object;
  /** The text of a body that may be large, in pieces. Reads nothing before the first piece is asked for. */
  text?: () => AsyncGenerator<string>;
  /** Absolute URL of the resource. */
  location?: string;
  /** Its ETag. */
  version?: string;
  resourceId?: string;
}

export const listResponseSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** A page of resources (RFC 7644 §3.4.2, RFC 9865 §3.1). */
export function listAnswer(
  { startIndex, cursor }: SearchRequest,
  total: number,
  resources: readonly (object | OpenResource)[],
  nextCursor?: string,
): ScimAnswer {
  const head = {
    schemas: [listResponseSchema],
    totalResults: total,
    itemsPerPage: resources.length,
    ...(cursor === undefined ? { startIndex } : {}),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
  const kept = resources.map((each) => (each instanceof OpenResource ? each.resource : each));
  return {
    status: 200,
    body: { ...head, Resources: kept },
    text: () => listText(head, 'Resources', resources),
  };
}

/** Throws 412 if the current version does not meet the conditions of a change. */
export type VersionCheck = (version: number) => void;

/** The check for `If-Match`, or `version` in Bulk, and for `If-None-Match` (RFC 9110 §13.1). */
export function versionCheck(ifMatch: string | undefined, ifNoneMatch?: string): VersionCheck {
  return (version) => {
    if (ifMatch !== undefined && !names(ifMatch, version)) {
      throw notMatched();
    }
    if (ifNoneMatch !== undefined && names(ifNoneMatch, version)) {
      throw new ScimError(412, 'The resource has the version in If-None-Match.');
    }
  };
}

function names(known: string, version: number): boolean {
  const tags = known.split(',').map((tag) => tag.trim());
  // The part after the dash covers values of other resources; changes of those do not conflict.
  const numbers = tags.map((tag) => /^(?:W\/)?"?(\d+)(?:-[\w-]+)?"?$/i.exec(tag)?.[1]);
  return tags.includes('*') || numbers.includes(String(version));
}

/** The status of a read of a representation (RFC 7644 §3.14, RFC 9110 §13.2.2). Throws 412. */
export function readStatus(ifMatch: string | undefined, ifNoneMatch: string | undefined, version: string): 200 | 304 {
  if (ifMatch !== undefined && !namesRepresentation(ifMatch, version)) throw notMatched();
  return ifNoneMatch !== undefined && namesRepresentation(ifNoneMatch, version) ? 304 : 200;
}

function notMatched(): ScimError {
  return new ScimError(412, 'The resource has changed since the version in If-Match.');
}

function namesRepresentation(known: string, version: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//i, '').replaceAll('"', '');
  return known.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(version));
}
