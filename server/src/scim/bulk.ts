import type { Random } from '../domain/kernel/random.ts';
import type { InTurn } from '../domain/limits/turns.ts';
import { failureOf } from '../http/failure.ts';
import { type ScimAnswer, type ScimCaller, versionCheck } from './answer.ts';
import type { GroupEndpoint } from './groups.ts';
import { field, isObject } from './patch-operations.ts';
import { singleSlashes } from './paths.ts';
import { idAlone } from './projection.ts';
import { badRequest, ScimError, toScimError } from './scim-error.ts';
import type { UserEndpoint } from './users.ts';

/** Limits of one Bulk request, announced in ServiceProviderConfig. */
export const maxOperations = 1000;
export const maxPayloadBytes = 4 * 1024 * 1024;

/** Maximum number of users deleted in one transaction: their rows stay locked until its end. */
const maxTogether = 50;

const requestSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const responseSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';
const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface BulkDeps {
  users: UserEndpoint;
  groups: GroupEndpoint;
  random: Random;
  /** Called for an unexpected error or a fault of the database, which fails only its operation. */
  onFault(error: unknown): void;
}

interface Operation {
  method: (typeof methods)[number] | undefined;
  bulkId: string | undefined;
  path: string;
  version: string | undefined;
  data: unknown;
  /** The bulkIds that it refers to. */
  references: string[];
}

/** The response or the error of an operation. */
interface OperationResult {
  error?: ScimError;
  answer?: ScimAnswer;
}

/**
 * Bulk (RFC 7644 §3.7): each operation is a separate transaction. An operation that refers to another's `bulkId` runs
 * after it, in any order of sending; ids are assigned before the first one runs, so that two operations can refer to
 * each other.
 */
export class BulkEndpoint {
  constructor(private readonly deps: BulkDeps) {}

  /**
   * @param authenticate called before each operation, since the token may end in the meantime; its throw ends the request
   * @param inTurn runs each operation as a separate request
   */
  async run(
    caller: ScimCaller,
    body: Record<string, unknown>,
    authenticate: () => Promise<void>,
    inTurn: InTurn,
  ): Promise<ScimAnswer> {
    const operations = readOperations(body);
    const failOnErrors = readFailOnErrors(body);
    const batch = new Batch(operations, this.deps, caller);
    let errors = 0;
    let left = inOrder(operations);
    while (left.length > 0 && errors < failOnErrors) {
      const isFree = failOnErrors === Number.POSITIVE_INFINITY;
      const deletions = isFree ? batch.deletionsAtStartOf(left) : new Map<string, Operation>();
      const [next] = left;
      const done = await inTurn(async () => {
        await authenticate();
        if (deletions.size > 1 && (await batch.removeTogether(deletions))) return deletions.size;
        if (next && (await batch.run(next)).error) errors += 1;
        return 1;
      });
      left = left.slice(done);
    }
    const results = operations.flatMap((operation) => batch.resultOf(operation));
    return { status: 200, body: { schemas: [responseSchema], Operations: results } };
  }
}

class Batch {
  /** The id of each bulkId. */
  private readonly ids = new Map<string, string>();
  private readonly makers = new Map<string, Operation>();
  private readonly outcomes = new Map<Operation, OperationResult>();

  constructor(
    operations: readonly Operation[],
    private readonly deps: BulkDeps,
    private readonly caller: ScimCaller,
  ) {
    for (const operation of operations) {
      if (operation.bulkId === undefined || operation.method !== 'POST') continue;
      if (this.makers.has(operation.bulkId)) {
        throw badRequest('invalidValue', `bulkId ${JSON.stringify(operation.bulkId.slice(0, 80))} occurs twice.`);
      }
      this.makers.set(operation.bulkId, operation);
      this.ids.set(operation.bulkId, deps.random.id());
    }
  }

  /** The next deletions of different users, by id: they can run together. */
  deletionsAtStartOf(operations: readonly Operation[]): Map<string, Operation> {
    const deletions = new Map<string, Operation>();
    for (const operation of operations.slice(0, maxTogether)) {
      const [, id] = /^\/?Users\/([0-9a-f-]{36})\/?$/.exec(operation.path) ?? [];
      if (operation.method !== 'DELETE' || id === undefined || deletions.has(id)) break;
      deletions.set(id, operation);
    }
    return deletions;
  }

  /**
   * Deletes users in one transaction; a refused one does not prevent the others. False if the transaction failed: none
   * is deleted.
   */
  async removeTogether(deletions: ReadonlyMap<string, Operation>): Promise<boolean> {
    const checks = new Map([...deletions].map(([id, { version }]) => [id, versionCheck(version)]));
    let refusals: Map<string, unknown>;
    try {
      refusals = await this.deps.users.removeAll(this.caller, checks);
    } catch {
      // The operations then run one by one, so that each fault is reported with its operation.
      return false;
    }
    for (const [id, operation] of deletions) {
      const refusal = refusals.get(id);
      this.outcomes.set(operation, refusal ? this.failed(refusal) : { answer: { status: 204, resourceId: id } });
    }
    return true;
  }

  async run(operation: Operation): Promise<OperationResult> {
    const outcome = await this.attempt(operation);
    this.outcomes.set(operation, outcome);
    return outcome;
  }

  /** The operation's part of the response; empty if it was not run. */
  resultOf(operation: Operation): object[] {
    const outcome = this.outcomes.get(operation);
    if (!outcome) return [];
    const { answer, error } = outcome;
    const location = answer?.location ?? this.locationOf(operation);
    return [
      {
        method: operation.method,
        ...(operation.bulkId === undefined ? {} : { bulkId: operation.bulkId }),
        ...(answer?.version === undefined ? {} : { version: answer.version }),
        ...(location === undefined ? {} : { location }),
        status: String(error?.status ?? answer?.status),
        ...(error ? { response: error.toJSON() } : {}),
      },
    ];
  }

  private async attempt(operation: Operation): Promise<OperationResult> {
    try {
      for (const reference of operation.references) this.checkReference(operation, reference);
      return { answer: await this.perform(operation) };
    } catch (thrown) {
      return this.failed(thrown);
    }
  }

  private failed(thrown: unknown): OperationResult {
    const error = toScimError(failureOf(thrown), this.caller.actor.requestId ?? '');
    if (error.status >= 500) this.deps.onFault(thrown);
    return { error };
  }

  private checkReference(operation: Operation, reference: string): void {
    const maker = this.makers.get(reference);
    const failed = maker !== undefined && this.outcomes.get(maker)?.error !== undefined;
    if (maker && !failed && (maker !== operation || operation.method === 'POST')) return;
    const why = failed ? 'could not be created' : 'is not created in this request';
    throw badRequest('invalidValue', `bulkId:${reference.slice(0, 80)} ${why}.`);
  }

  private async perform(operation: Operation): Promise<ScimAnswer> {
    const { users, groups } = this.deps;
    const { method, version, bulkId } = operation;
    const [, collection, id] = /^\/?(Users|Groups)(?:\/([^/?#]+))?\/?$/i.exec(this.resolved(operation.path)) ?? [];
    if (!method) throw badRequest('invalidValue', 'method must be POST, PUT, PATCH or DELETE.');
    if (!collection) throw badRequest('invalidPath', 'path must be /Users, /Groups, or one of them followed by an id.');
    const endpoint = collection.toLowerCase() === 'users' ? users : groups;
    if (method === 'POST') {
      if (id !== undefined) throw badRequest('invalidPath', 'The path of a POST must be /Users or /Groups.');
      const made = bulkId === undefined ? undefined : this.ids.get(bulkId);
      const answer = await endpoint.create(this.caller, this.data(operation), idAlone, made);
      // A user who moved home keeps the id.
      if (bulkId !== undefined && answer.resourceId !== undefined) this.ids.set(bulkId, answer.resourceId);
      return answer;
    }
    if (id === undefined) throw badRequest('invalidPath', `The path of a ${method} must end with an id.`);
    const checkVersion = versionCheck(version);
    if (method === 'DELETE') return endpoint.remove(this.caller, id, checkVersion);
    const act = method === 'PUT' ? endpoint.replace.bind(endpoint) : endpoint.patch.bind(endpoint);
    return act(this.caller, id, this.data(operation), checkVersion, idAlone);
  }

  private data({ data }: Operation): Record<string, unknown> {
    if (!isObject(data)) throw badRequest('invalidSyntax', 'data must be an object.');
    return mapStrings(data, (text) => this.resolved(text)) as Record<string, unknown>;
  }

  /** Replaces each known `bulkId:…` in `text` with its id. */
  private resolved(text: string): string {
    return text.replace(referencePattern, (whole, reference: string) => this.ids.get(reference) ?? whole);
  }

  private locationOf({ method, path }: Operation): string | undefined {
    if (method === 'POST') return undefined;
    const resolved = this.resolved(path);
    return `${this.caller.baseUrl}${resolved.startsWith('/') ? '' : '/'}${resolved}`;
  }
}

/** Matches a reference: a whole value, an id in a path, or a value in the brackets of a PATCH path. */
const referencePattern = /(?<=^|\/|")bulkId:([^"/\]\s]+)/g;

function readOperations(body: Record<string, unknown>): Operation[] {
  const schemas = field(body, 'schemas');
  const names = Array.isArray(schemas) ? schemas : [];
  if (!names.some((name) => typeof name === 'string' && name.toLowerCase() === requestSchema.toLowerCase())) {
    throw badRequest('invalidSyntax', `schemas must contain ${requestSchema}.`);
  }
  const operations = field(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations must be a list.');
  if (operations.length > maxOperations) {
    throw new ScimError(413, `More than ${maxOperations} operations. Send them in several requests.`);
  }
  return operations.map(readOperation);
}

function readOperation(operation: unknown): Operation {
  if (!isObject(operation)) throw badRequest('invalidSyntax', 'An operation must be an object.');
  const text = (name: string) => {
    const value = field(operation, name) ?? undefined;
    if (value !== undefined && typeof value !== 'string')
      throw badRequest('invalidSyntax', `${name} must be a string.`);
    return value;
  };
  const method = text('method')?.toUpperCase();
  if (method === 'POST' && !text('bulkId')) throw badRequest('invalidSyntax', 'A POST must have a bulkId.');
  const path = singleSlashes(text('path') ?? '');
  const data = field(operation, 'data');
  const references = new Set<string>();
  const collect = (value: string) => {
    for (const [, reference] of value.matchAll(referencePattern)) references.add(reference as string);
    return value;
  };
  collect(path);
  mapStrings(data, collect);
  return {
    method: methods.find((each) => each === method),
    bulkId: text('bulkId'),
    path,
    version: text('version'),
    data,
    references: [...references],
  };
}

function readFailOnErrors(body: Record<string, unknown>): number {
  const value = field(body, 'failOnErrors') ?? undefined;
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value || Number.POSITIVE_INFINITY;
  throw badRequest('invalidValue', 'failOnErrors must be a non-negative integer.');
}

/** Sorts the operations so that each comes after those it refers to. A cycle is broken where it is found. */
function inOrder(operations: readonly Operation[]): Operation[] {
  const makers = new Map(
    operations.map((operation) => [operation.method === 'POST' ? operation.bulkId : undefined, operation]),
  );
  const ordered = new Set<Operation>();
  const entered = new Set<Operation>();
  // An explicit stack: a chain of a thousand references must not overflow the call stack.
  const stack = [...operations].reverse().map((operation) => ({ operation, done: false }));
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { operation, done } = top;
    if (done) ordered.add(operation);
    else if (!entered.has(operation)) {
      entered.add(operation);
      stack.push({ operation, done: true });
      for (const reference of [...operation.references].reverse()) {
        const maker = makers.get(reference);
        if (maker && !entered.has(maker)) stack.push({ operation: maker, done: false });
      }
    }
  }
  return [...ordered];
}

/** Maps every string in a JSON value. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapStrings(each, change)]));
}
