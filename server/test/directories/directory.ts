import type { ScimReply } from '../scim-app.ts';

/** A person in the directory, with the attributes that its administrator has set. */
export interface Person {
  externalId: string;
  userName: string;
  givenName: string;
  familyName: string;
  title: string;
}

/** A group in the directory. */
export interface Team {
  externalId: string;
  name: string;
}

export interface Sent {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Expected status; by default 201 for POST, 204 for DELETE, and 200 or 204 for the rest. */
  status?: number;
}

/** Sends a request, expects its status, and returns the response. Waits and repeats it after a 429. */
export type Send = (sent: Sent) => Promise<ScimReply>;

/** The requests of one task, with the public source of their shape. */
export interface Task<Args extends unknown[], Result = void> {
  /** Address of the public source of the shape. */
  source?: string;
  /** If no request is public: the source from which the shape is inferred. */
  inferred?: string;
  run(send: Send, ...args: Args): Promise<Result>;
}

/**
 * The requests of a directory for each task of a provisioning cycle. Ids are those of the server, as a directory stores
 * them.
 */
export interface DirectoryClient {
  name: string;
  /** Headers of each request with a body. */
  headers?: Record<string, string>;
  /** False if it sends no `externalId`. */
  sendsExternalId?: { users?: false; groups?: false };
  /** The requests of "Test connection". */
  connect: Task<[]>;
  /** The id of the user that the directory would match. */
  findUser: Task<[Person], string | undefined>;
  createUser: Task<[Person], string>;
  /** Called after any of the person's attributes has changed. */
  updateUser: Task<[Person, id: string]>;
  setActive: Task<[Person, id: string, active: boolean]>;
  /** Absent if the directory only deactivates. */
  deleteUser?: Task<[id: string]>;
  findGroup: Task<[Team], string | undefined>;
  createGroup: Task<[Team], string>;
  renameGroup: Task<[Team, id: string, members: string[]]>;
  addMember: Task<[Team, id: string, member: string, members: string[]]>;
  removeMember: Task<[Team, id: string, member: string, members: string[]]>;
  deleteGroup: Task<[id: string]>;
}

export const published = <Args extends unknown[], Result>(
  source: string,
  run: Task<Args, Result>['run'],
): Task<Args, Result> => ({ source, run });

export const inferred = <Args extends unknown[], Result>(
  reason: string,
  run: Task<Args, Result>['run'],
): Task<Args, Result> => ({ inferred: reason, run });

export const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** A PATCH body with `Operations`. */
export const patch = (...operations: object[]) => ({ schemas: [patchUrn], Operations: operations });

/** A filter as `encodeURIComponent` writes it: `%20` and `%22`. */
export const percent = (attribute: string, value: string, operator = 'eq') =>
  encodeURIComponent(`${attribute} ${operator} ${JSON.stringify(value)}`);

/** A filter as a form encodes it: `+` for a space. */
export const plus = (attribute: string, value: string) => percent(attribute, value).replaceAll('%20', '+');

/** The id of the only resource in a list, if there is one. */
export function foundId({ body }: ScimReply): string | undefined {
  if (body.totalResults > 1) throw new Error(`${body.totalResults} resources instead of one`);
  return body.Resources[0]?.id;
}

export const idOf = ({ body }: ScimReply): string => body.id;
export const displayName = ({ givenName, familyName }: Person) => `${givenName} ${familyName}`;
export const fromStandard = 'No request is published: the shape is that of RFC 7644.';
export const reported = 'Reported by operators of SCIM servers, without a public address.';
