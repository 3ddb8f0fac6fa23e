import { expect } from 'vitest';
import type { ScimApp, ScimProject, ScimReply } from '../scim-app.ts';
import type { DirectoryClient, Person, Send, Sent, Task, Team } from './directory.ts';

/** A person with the state that the directory last sent. */
interface Provisioned extends Person {
  id: string;
  active: boolean;
}

interface ProvisionedTeam extends Team {
  id: string;
  members: Provisioned[];
}

/**
 * A directory that provisions a project over HTTP. It keeps the values that it has sent, and {@link check} compares
 * them with those of the server.
 */
export class Cycle {
  private readonly people: Provisioned[] = [];
  private readonly teams: ProvisionedTeam[] = [];
  /** Number of requests that were answered by 429. */
  delayed = 0;

  constructor(
    private readonly app: ScimApp,
    private readonly project: ScimProject,
    readonly client: DirectoryClient,
  ) {}

  connect(): Promise<void> {
    return this.run('connect', this.client.connect);
  }

  /** Finds the person or creates it, as at the start of a synchronization. */
  async provision(person: Person): Promise<Provisioned> {
    const { findUser, createUser, updateUser, setActive } = this.client;
    const known = await this.run('findUser', findUser, person);
    const id = known ?? (await this.run('createUser', createUser, person));
    const provisioned = { ...person, id, active: true };
    if (known !== undefined) {
      await this.run('updateUser', updateUser, person, id);
      await this.run('setActive', setActive, person, id, true);
    }
    this.people.splice(0, Infinity, ...this.people.filter((each) => each.id !== id), provisioned);
    return provisioned;
  }

  async update(person: Provisioned, change: Partial<Person>): Promise<void> {
    Object.assign(person, change);
    await this.run('updateUser', this.client.updateUser, person, person.id);
  }

  async setActive(person: Provisioned, active: boolean): Promise<void> {
    await this.run('setActive', this.client.setActive, person, person.id, active);
    person.active = active;
  }

  /** Deletes the person, or deactivates it if the directory does not delete. */
  async remove(person: Provisioned): Promise<void> {
    const { deleteUser } = this.client;
    if (!deleteUser) return this.setActive(person, false);
    await this.run('deleteUser', deleteUser, person.id);
    this.people.splice(this.people.indexOf(person), 1);
    for (const team of this.teams) team.members = team.members.filter((member) => member !== person);
    const reply = await this.project.request('GET', `/Users/${person.id}`);
    expect(reply.status).toBe(404);
  }

  async provisionTeam(team: Team): Promise<ProvisionedTeam> {
    expect(await this.run('findGroup', this.client.findGroup, team)).toBeUndefined();
    const id = await this.run('createGroup', this.client.createGroup, team);
    expect(await this.run('findGroup', this.client.findGroup, team)).toBe(id);
    const provisioned = { ...team, id, members: [] };
    this.teams.push(provisioned);
    return provisioned;
  }

  async join(team: ProvisionedTeam, ...people: Provisioned[]): Promise<void> {
    for (const person of people) {
      await this.run('addMember', this.client.addMember, team, team.id, person.id, idsOf(team));
      team.members.push(person);
    }
  }

  async leave(team: ProvisionedTeam, person: Provisioned): Promise<void> {
    await this.run('removeMember', this.client.removeMember, team, team.id, person.id, idsOf(team));
    team.members = team.members.filter((member) => member !== person);
  }

  async renameTeam(team: ProvisionedTeam, name: string): Promise<void> {
    team.name = name;
    await this.run('renameGroup', this.client.renameGroup, team, team.id, idsOf(team));
  }

  async removeTeam(team: ProvisionedTeam): Promise<void> {
    await this.run('deleteGroup', this.client.deleteGroup, team.id);
    this.teams.splice(this.teams.indexOf(team), 1);
  }

  /** Expects that the server has exactly the users, groups and memberships that were sent, and no other. */
  async check(phase: string): Promise<void> {
    const { users: withUserIds = true, groups: withGroupIds = true } = this.client.sendsExternalId ?? {};
    const users = this.people.map(({ id, userName, externalId, active, title, givenName, familyName }) => ({
      id,
      userName,
      externalId: withUserIds ? externalId : undefined,
      active,
      title,
      name: `${givenName} ${familyName}`,
      mail: userName,
      groups: this.teams
        .filter(({ members }) => members.some((member) => member.id === id))
        .map(({ name }) => name)
        .sort(),
    }));
    const groups = this.teams.map((team) => ({
      id: team.id,
      displayName: team.name,
      externalId: withGroupIds ? team.externalId : undefined,
      members: idsOf(team).sort(),
    }));
    expect(await this.held(), `${this.client.name}: ${phase}`).toEqual({ users: byId(users), groups: byId(groups) });
    expect(this.app.bugs).toEqual([]);
  }

  private async held(): Promise<{ users: object[]; groups: object[] }> {
    const listed = async (path: string): Promise<any[]> =>
      (await this.withRetry(() => this.project.request('GET', path))).body.Resources;
    const users = await listed('/Users');
    const groups = await listed('/Groups');
    return {
      users: byId(users.map(userOf)),
      groups: byId(
        groups.map(({ id, displayName, externalId, members }) => ({
          id,
          displayName,
          externalId,
          members: members.map(({ value }: { value: string }) => value).sort(),
        })),
      ),
    };
  }

  private async run<Args extends unknown[], Result>(
    name: string,
    { run }: Task<Args, Result>,
    ...args: Args
  ): Promise<Result> {
    const send: Send = (sent) => this.send(name, sent);
    return run(send, ...args);
  }

  private async send(task: string, { method, path, body, headers, status }: Sent): Promise<ScimReply> {
    const own = body === undefined ? {} : this.client.headers;
    const reply = await this.withRetry(() =>
      this.project.request(method, path, body, { headers: { ...own, ...headers } }),
    );
    const label = `${this.client.name}, ${task}: ${method} ${path} ${JSON.stringify(body)}\n${reply.text.slice(0, 1000)}\n`;
    if (status !== undefined) expect(reply.status, label).toBe(status);
    else expect(usual[method], label).toContain(reply.status);
    return reply;
  }

  /** If the request gets 429, waits for the time in `Retry-After` and sends it again, as clients do. */
  private async withRetry(request: () => Promise<ScimReply>): Promise<ScimReply> {
    const reply = await request();
    if (reply.status !== 429) return reply;
    this.delayed += 1;
    const seconds = reply.headers.get('retry-after');
    expect(seconds).toMatch(/^[1-9]\d*$/);
    expect(reply.body).toMatchObject({ schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '429' });
    this.app.clock.turn(Number(seconds));
    const again = await request();
    expect(again.status, 'after the time in Retry-After').not.toBe(429);
    return again;
  }
}

const usual = { GET: [200], POST: [201], PUT: [200, 204], PATCH: [200, 204], DELETE: [204] };

const idsOf = ({ members }: ProvisionedTeam) => members.map(({ id }) => id);
const byId = <Each extends { id: string }>(all: Each[]): Each[] => all.sort((a, b) => (a.id < b.id ? -1 : 1));

function userOf({ id, userName, externalId, active, title, name, emails, groups = [] }: any) {
  return {
    id,
    userName,
    externalId,
    active,
    title,
    name: `${name.givenName} ${name.familyName}`,
    mail: emails.map(({ value }: { value: string }) => value).join(),
    groups: groups.map(({ display }: { display: string }) => display).sort(),
  };
}
