import type { Audit } from '../../domain/audit/audit.ts';
import type { Directories } from '../../domain/directories/directories.ts';
import type { RequestRecords } from '../../domain/directories/request-records.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import type { Random } from '../../domain/kernel/random.ts';
import { Project } from '../../domain/projects/project.entity.ts';

/** One request of the self-test and what came of it. */
export interface SelfTestStep {
  name: string;
  /** What it shows, where it went well. */
  proves: string;
  passed: boolean;
  request: string;
  /** What was expected and what came, where that differs. */
  fault: string | null;
  durationMs: number;
}

export interface SelfTestDeps {
  db: Database;
  clock: Clock;
  random: Random;
  audit: Audit;
  directories: Directories;
  requestRecords: RequestRecords;
  /** Serves this very application on a loopback address for as long as `use` takes, so that no proxy is in between. */
  atLoopback<T>(use: (url: string) => Promise<T>): Promise<T>;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}
type Send = (method: string, path: string, body?: object, token?: string | null) => Promise<Answer>;
interface Attempt {
  name: string;
  proves: string;
  method: string;
  path: string;
  body?: object;
  /** Null: without a token. */
  token?: null;
  status: number;
  /** Why the answer is not what it should be, or null. */
  look?(body: Answer['body']): string | null;
}

/** A life of a user as a directory lives it, with a token that ends with the test. */
const lifetimeSeconds = 300;
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/**
 * Plays a directory against this server: real SCIM requests over HTTP, with a token of their own. The user, the group,
 * the token and the records of the requests are gone afterwards; the audit log keeps what was done.
 */
export class DirectorySelfTest {
  private readonly deps: SelfTestDeps;

  constructor(deps: SelfTestDeps) {
    this.deps = deps;
  }

  /** Refuses `not-found`, and `forbidden` where directories may not write. */
  async run(projectId: string, actor: Actor): Promise<SelfTestStep[]> {
    const { db, audit, directories, requestRecords, atLoopback } = this.deps;
    const project = await db.reader().findOne(Project, projectId);
    if (!project) refuse({ code: 'not-found', what: 'project' });
    if (!project.scimEnabled) refuse({ code: 'forbidden', reason: 'directory sync is switched off here' });
    const temporary = await directories.issueTemporary(projectId, lifetimeSeconds);
    try {
      const steps = await requestRecords.without(temporary.id, () =>
        atLoopback((url) => this.play(`${url}/v1/scim/${projectId}`, temporary.token)),
      );
      await db.transaction(async (em) =>
        audit.record(em, {
          type: 'directory.tested',
          result: steps.every(({ passed }) => passed) ? 'success' : 'failure',
          actor,
          projectId,
          detail: { failed: steps.filter(({ passed }) => !passed).map(({ name }) => name) },
        }),
      );
      return steps;
    } finally {
      await directories.removeTemporary(temporary.id);
    }
  }

  private async play(base: string, token: string): Promise<SelfTestStep[]> {
    const send = sender(base, token);
    const userName = `self-test-${this.deps.random.id()}@latchkey.invalid`;
    const steps: SelfTestStep[] = [];
    const made: Record<'user' | 'group', string | undefined> = { user: undefined, group: undefined };
    const attempt = async (one: Attempt): Promise<Answer['body']> => {
      const { step, body } = await this.step(send, one);
      steps.push(step);
      return body;
    };
    const idIn = (body: Answer['body']) => (typeof body['id'] === 'string' ? body['id'] : undefined);
    const user = { schemas: [userSchema], userName, displayName: 'Self-test', active: true };
    try {
      await attempt({ ...reads, method: 'GET', path: '/ServiceProviderConfig', status: 200, look: has('schemas') });
      await attempt({ ...guards, method: 'GET', path: '/Users', status: 401, token: null });
      made.user = idIn(
        await attempt({ ...creates, method: 'POST', path: '/Users', body: user, status: 201, look: has('id') }),
      );
      if (made.user === undefined) return steps;
      const path = `/Users/${made.user}`;
      const patch = (value: object) => ({ schemas: [patchSchema], Operations: [{ op: 'replace', value }] });
      await attempt({
        ...unique,
        method: 'POST',
        path: '/Users',
        body: user,
        status: 409,
        look: is('scimType', 'uniqueness'),
      });
      const filter = `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}&startIndex=1&count=100`;
      await attempt({ ...finds, method: 'GET', path: filter, status: 200, look: is('totalResults', 1) });
      const changed = { displayName: 'Self-test, changed' };
      const look = is('displayName', changed.displayName);
      await attempt({ ...changes, method: 'PATCH', path, body: patch(changed), status: 200, look });
      const group = { schemas: [groupSchema], displayName: userName, members: [{ value: made.user }] };
      made.group = idIn(
        await attempt({ ...groups, method: 'POST', path: '/Groups', body: group, status: 201, look: has('id') }),
      );
      const off = { active: false };
      await attempt({
        ...deactivates,
        method: 'PATCH',
        path,
        body: patch(off),
        status: 200,
        look: is('active', false),
      });
      await attempt({ ...deletes, method: 'DELETE', path, status: 204 });
      await attempt({ ...forgets, method: 'GET', path, status: 404 });
      return steps;
    } finally {
      if (made.group) await send('DELETE', `/Groups/${made.group}`);
      if (made.user) await send('DELETE', `/Users/${made.user}`);
    }
  }

  private async step(send: Send, { name, proves, method, path, body, token, status, look }: Attempt) {
    const { clock } = this.deps;
    const startedAt = clock.now().getTime();
    const answer = await send(method, path, body, token);
    const fault =
      answer.status === status
        ? (look?.(answer.body) ?? null)
        : `Expected ${status}, came ${answer.status}${typeof answer.body['detail'] === 'string' ? `: ${answer.body['detail']}` : ''}`;
    const durationMs = clock.now().getTime() - startedAt;
    const request = `${method} ${decodeURIComponent(path)}`;
    return { body: answer.body, step: { name, proves, passed: fault === null, request, fault, durationMs } };
  }
}

const reads = { name: 'Discovery', proves: 'A directory reads what is supported.' };
const guards = { name: 'Without a token', proves: 'Whoever has no token learns nothing.' };
const creates = { name: 'Create a user', proves: 'People arrive.' };
const unique = { name: 'Create the same again', proves: 'Nobody arrives twice.' };
const finds = { name: 'Find by userName', proves: 'A directory finds again whom it brought.' };
const changes = { name: 'Change a name', proves: 'Changes arrive.' };
const groups = { name: 'Push a group', proves: 'Groups arrive with their members.' };
const deactivates = { name: 'Deactivate', proves: 'Whoever leaves loses access at once.' };
const deletes = { name: 'Delete', proves: 'Whoever is deleted is gone.' };
const forgets = { name: 'Ask for the deleted', proves: 'Nothing of them is left.' };

const has = (name: string) => (body: Answer['body']) => (body[name] === undefined ? `There is no ${name}` : null);
const is = (name: string, value: unknown) => (body: Answer['body']) =>
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
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };
}
