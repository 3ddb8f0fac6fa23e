import type { Audit } from '../../domain/audit/audit.ts';
import type { Directories } from '../../domain/directories/directories.ts';
import type { RequestRecords } from '../../domain/directories/request-records.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import type { Random } from '../../domain/kernel/random.ts';
import type { LimitRule, Limits } from '../../domain/limits/limits.ts';
import { Organization } from '../../domain/organizations/organization.entity.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { existing, keyIn } from '../../domain/projects/tenant.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import type { Home } from '../../domain/users/identity/home.ts';
import { requiredValues } from './required-values.ts';

/** A request of the self-test and its result. */
export interface SelfTestStep {
  name: string;
  /** The behavior that it proves if it passes. */
  proves: string;
  passed: boolean;
  request: string;
  /** Expected and actual result, if they differ. */
  fault: string | null;
  durationMs: number;
}

export interface SelfTestDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  directories: Directories;
  customAttributes: Pick<CustomAttributes, 'current'>;
  requestRecords: RequestRecords;
  limits: Pick<Limits, 'spend'>;
  /** Serves this application on a loopback address during `use`, without a proxy. */
  atLoopback<T>(use: (url: string) => Promise<T>): Promise<T>;
}

interface ScimResponse {
  status: number;
  body: Record<string, unknown>;
}
type Send = (method: string, path: string, body?: object, token?: string | null) => Promise<ScimResponse>;

/** Ids of the resources that the test has created. */
interface CreatedIds {
  user?: string;
  group?: string;
}

interface SelfTestRequest {
  name: string;
  proves: string;
  method: string;
  path: string;
  body?: object;
  /** Null: without a token. */
  token?: null;
  /** The expected status. */
  status: number;
  /** The fault of the body, or null. */
  check?(body: ScimResponse['body']): string | null;
  /** The resource that the request creates. */
  creates?: keyof CreatedIds;
}

/** Tests that admins of a project may start: each sends a dozen requests, and its events go to webhooks and log streams. */
const tests: LimitRule = { name: 'directory-tests', max: 20, windowSeconds: 600 };
/** Lifetime of the test's token. */
const lifetimeSeconds = 300;
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/**
 * Acts as a directory: sends SCIM requests over HTTP with a temporary token. Afterwards it deletes the user, the group,
 * the token and the request records; the audit log keeps its events.
 */
export class DirectorySelfTest {
  private readonly deps: SelfTestDeps;

  constructor(deps: SelfTestDeps) {
    this.deps = deps;
  }

  /** Refuses `not-found`, `forbidden` if directory sync or the organization is off, and `too-many`. */
  async run(directory: Home, actor: Actor): Promise<SelfTestStep[]> {
    const { db, audit, directories, limits, requestRecords, atLoopback } = this.deps;
    const { organizationId, projectId } = directory;
    const project = await db.reader().findOne(Project, projectId);
    if (!project) refuse({ code: 'not-found', what: 'project' });
    if (!project.scimEnabled) refuse({ code: 'forbidden', reason: 'directory sync is off' });
    if (organizationId !== null) {
      const key = keyIn(projectId, organizationId);
      const { state } = (await existing(db.reader(), Organization, key, 'organization')) as Organization;
      if (!project.organizationsEnabled) refuse({ code: 'forbidden', reason: 'organizations are off' });
      if (state !== 'active') refuse({ code: 'forbidden', reason: 'the organization is suspended' });
    }
    const spent = await db.transaction((em) => limits.spend(em, tests, projectId));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const temporary = await directories.issueTemporary(directory, lifetimeSeconds);
    try {
      const steps = await requestRecords.without(temporary.id, () =>
        atLoopback((url) =>
          this.play(projectId, sender(`${url}/v1/scim/${organizationId ?? projectId}`, temporary.token)),
        ),
      );
      await db.transaction(async (em) =>
        audit.record(em, {
          type: 'directory.tested',
          result: steps.every(({ passed }) => passed) ? 'success' : 'failure',
          actor,
          projectId,
          detail: {
            ...(organizationId && { organizationId }),
            failed: steps.filter(({ passed }) => !passed).map(({ name }) => name),
          },
        }),
      );
      return steps;
    } finally {
      await directories.removeTemporary(temporary);
    }
  }

  private async play(projectId: string, send: Send): Promise<SelfTestStep[]> {
    const { customAttributes, random } = this.deps;
    const id = random.id();
    const { attributes } = await customAttributes.current(projectId);
    const values = requiredValues(attributes, Number.parseInt(id.slice(-12), 16));
    const userName = `self-test-${id}@latchkey.invalid`;
    const user = { schemas: [userSchema, ...Object.keys(values)], userName, ...values };
    const steps: SelfTestStep[] = [];
    const created: CreatedIds = {};
    try {
      for (const requestOf of requests(user)) {
        const request = requestOf(created);
        const { step, body } = await this.step(send, request);
        steps.push(step);
        if (request.creates && typeof body['id'] === 'string') created[request.creates] = body['id'];
        // All later requests need the user.
        if (request.creates === 'user' && created.user === undefined) break;
      }
      return steps;
    } finally {
      if (created.group) await send('DELETE', `/Groups/${created.group}`);
      if (created.user) await send('DELETE', `/Users/${created.user}`);
    }
  }

  private async step(send: Send, { name, proves, method, path, body, token, status, check }: SelfTestRequest) {
    const { clock } = this.deps;
    const startedAt = clock.now().getTime();
    const response = await send(method, path, body, token);
    const { detail } = response.body;
    const fault =
      response.status === status
        ? (check?.(response.body) ?? null)
        : `Expected ${status}, got ${response.status}${typeof detail === 'string' ? `: ${detail}` : ''}`;
    const durationMs = clock.now().getTime() - startedAt;
    const request = `${method} ${decodeURIComponent(path)}`;
    return { body: response.body, step: { name, proves, passed: fault === null, request, fault, durationMs } };
  }
}

/** The requests of the test, in order. @param person the names and required values of its user */
function requests(person: { userName: string }): ((created: CreatedIds) => SelfTestRequest)[] {
  const { userName } = person;
  const user = { ...person, displayName: 'Self-test', active: true };
  const displayName = 'Self-test, changed';
  const filter = `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}&startIndex=1&count=100`;
  const patch = (value: object) => ({ schemas: [patchSchema], Operations: [{ op: 'replace', value }] });
  const group = (id: string | undefined) => ({
    schemas: [groupSchema],
    displayName: userName,
    members: [{ value: id }],
  });
  return [
    () =>
      request('Discovery', 'Directories can read the supported features.')('GET', '/ServiceProviderConfig', 200, {
        check: has('schemas'),
      }),
    () => request('Without a token', 'Requests without a token are refused.')('GET', '/Users', 401, { token: null }),
    () =>
      request('Create a user', 'Users are created.')('POST', '/Users', 201, {
        body: user,
        check: has('id'),
        creates: 'user',
      }),
    () =>
      request('Create a duplicate', 'Duplicates are refused.')('POST', '/Users', 409, {
        body: user,
        check: is('scimType', 'uniqueness'),
      }),
    () =>
      request('Find by userName', 'Directories find the users they created.')('GET', filter, 200, {
        check: is('totalResults', 1),
      }),
    ({ user: id }) =>
      request('Change a name', 'Changes are applied.')('PATCH', `/Users/${id}`, 200, {
        body: patch({ displayName }),
        check: is('displayName', displayName),
      }),
    ({ user: id }) =>
      request('Push a group', 'Groups are created with their members.')('POST', '/Groups', 201, {
        body: group(id),
        check: has('id'),
        creates: 'group',
      }),
    ({ user: id }) =>
      request('Deactivate', 'A deactivated user loses access immediately.')('PATCH', `/Users/${id}`, 200, {
        body: patch({ active: false }),
        check: is('active', false),
      }),
    ({ user: id }) => request('Delete', 'Users are deleted.')('DELETE', `/Users/${id}`, 204),
    ({ user: id }) => request('Read the deleted user', 'Deleted users cannot be read.')('GET', `/Users/${id}`, 404),
  ];
}

type RequestOptions = Pick<SelfTestRequest, 'body' | 'token' | 'check' | 'creates'>;

const request =
  (name: string, proves: string) =>
  (method: string, path: string, status: number, options: RequestOptions = {}): SelfTestRequest => ({
    name,
    proves,
    method,
    path,
    status,
    ...options,
  });

const has = (name: string) => (body: ScimResponse['body']) => (body[name] === undefined ? `${name} is missing` : null);
const is = (name: string, value: unknown) => (body: ScimResponse['body']) =>
  body[name] === value ? null : `${name} is ${JSON.stringify(body[name])}, not ${JSON.stringify(value)}`;

function sender(base: string, ours: string): Send {
  return async (method, path, body, token = ours) => {
    const response = await fetch(base + path, {
      method,
      redirect: 'error',
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body ? { 'Content-Type': 'application/scim+json' } : {}),
        'User-Agent': 'Latchkey self-test',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as ScimResponse['body']) };
  };
}
