import type { Role } from '../../src/domain/admins/membership.entity.ts';
import { Membership } from '../../src/domain/admins/membership.entity.ts';
import { Client } from '../../src/domain/clients/client.entity.ts';
import { system } from '../../src/domain/kernel/actor.ts';
import type { Project } from '../../src/domain/projects/project.entity.ts';
import { bootstrapToken } from '../build-app.ts';
import { absorb } from './absorb.ts';
import { Browser } from './browsers.ts';
import type { Change } from './changes.ts';
import type { Meeting } from './meeting.ts';
import { type ClientModel, demand, fold, Model, type ProjectModel, toleranceMs } from './model.ts';
import { Authenticator, type Response } from './passkeys.ts';
import type { Delivered, Processes } from './processes.ts';
import { type Reply, send } from './wire.ts';

let serial = 0;

/** Initial policies of the projects. */
export interface Policies {
  mfaPolicy: 'off' | 'optional' | 'required';
  signUp: 'open' | 'provisioned_only';
  emailFactor: boolean;
  passkeyPolicy: 'allowed' | 'preferred' | 'required';
  rememberMfaSeconds: number;
}

/**
 * Two projects and the console's: three users, and a fourth mailbox without an account. Ann owns the instance, Ben is a
 * viewer of the first project, and Ben's user name is Carl's email address.
 */
export class World {
  readonly processes: Processes;
  readonly model = new Model();
  readonly browsers: Browser[];
  readonly addresses: string[];
  readonly phones: string[];
  /** An address that has no user at the beginning. */
  readonly spare: string;
  /** One for each person, and the attacker's. */
  readonly authenticators = [true, false, true, false, true].map((isSynced) => new Authenticator(isSynced));
  /** Answers to challenges that were sent, for replays. */
  readonly answers: Response[] = [];
  /** Messages that no actor has read. */
  readonly inbox: Delivered[] = [];
  /** While two requests are gathered, to be sent at once. */
  meeting: Meeting | null = null;
  projects: ProjectModel[] = [];
  console!: ProjectModel;
  private readonly serial: string;

  static async open(processes: Processes, policies: Policies): Promise<World> {
    const world = new World(processes);
    await world.seed(policies);
    return world;
  }

  private constructor(processes: Processes) {
    this.processes = processes;
    serial += 1;
    this.serial = String(serial);
    this.addresses = ['ann', 'ben', 'carl', 'dora'].map((name) => `${name}${serial}@example.com`);
    this.spare = `eve${serial}@example.com`;
    this.phones = [0, 1, 2, 3].map(
      (n) => `+4915${String((serial * 4 + n) % 1000).padStart(3, '0')}${String(serial * 4 + n).padStart(6, '0')}`,
    );
    const network = `10.${(serial >> 8) & 255}.${serial & 255}`;
    this.browsers = [0, 1, 2].map((n) => new Browser(n, `${network}.${n + 1}`));
  }

  get services() {
    return this.processes.apps[0].services;
  }

  get issuer(): string {
    return this.processes.issuer;
  }

  /** Address of an issuer at a process. */
  at(process: number, issuer: string): string {
    return this.process(process) + issuer.slice(this.issuer.length);
  }

  issuerOf(project: ProjectModel): string {
    return `${this.issuer}/p/${project.slug}`;
  }

  /** Base URL of a process. */
  process(index: number): string {
    return this.processes.apps[index % 2]?.url as string;
  }

  now(): number {
    return this.processes.now();
  }

  /** Sends a request and checks its reply, with the rows that it changed; in a meeting, concurrently with another. */
  async exchange<T>(send: () => Promise<Reply>, settle: (reply: Reply, changes: Change[]) => T): Promise<T> {
    if (this.meeting) return (await this.meeting.join({ send, settle })) as T;
    const reply = await send();
    return settle(reply, await this.processes.log.read());
  }

  private async seed(policies: Policies): Promise<void> {
    const { services, processes } = this;
    processes.clock.turn(2 * 86_400);
    processes.skew(0, 0);
    processes.skew(1, 0);
    await services.keys.maintain();
    await processes.log.read();
    await processes.log.forget();
    const { make } = processes.apps[0];
    const settings = { ...policies, deviceTrustSeconds: 30 * 86_400 };
    const first = await make.project({ name: 'First', ...settings });
    const second = await make.project({ name: 'Second', ...settings, mfaPolicy: 'off' });
    this.projects = [await this.modelOf(first, 'First', 2), await this.modelOf(second, 'Second', 1)];
    const built = await services.db.reader().findOneOrFail(Client, { builtIn: 'console' }, { populate: ['project'] });
    const consoleProject = built.project.getEntity();
    await services.projects.update(consoleProject.id, { mfaPolicy: 'optional', rememberMfaSeconds: 0 }, system);
    const { id, slug } = consoleProject;
    this.console = { id, slug, name: 'Console', clients: [], scimToken: '' };
    this.console.clients.push(this.clientModel(this.console, built.id, `${this.issuer}/admin/callback`));
    const [ann = '', ben = '', carl = ''] = this.addresses;
    const [annPhone, benPhone] = this.phones;
    await make.user(first, this.login(ann, ann, annPhone));
    await make.user(first, { ...this.login(carl, ben, benPhone), provenance: 'scim' });
    await make.user(first, this.login(`carl${this.serial}`, carl));
    await make.user(second, this.login(ann, ann));
    await this.admin(consoleProject, ann, 'owner');
    await this.admin(consoleProject, ben, 'project_viewer', first);
    const changes = await processes.log.read();
    absorb(this.model, changes);
    this.model.projects.set(consoleProject.id, await this.projectRow(consoleProject.id));
  }

  private async projectRow(id: string) {
    const sql = 'select to_jsonb(p) as row from projects p where id = ?';
    const rows = await this.services.db.reader().execute<{ row: Record<string, unknown> }[]>(sql, [id]);
    return rows[0]?.row ?? {};
  }

  /** A user as provisioned by a directory, whose email and phone number are derived from the attributes. */
  private login(userName: string, email: string, phone?: string) {
    const phoneNumbers = phone === undefined ? [] : [{ value: phone, type: 'mobile', primary: true }];
    const attributes = { emails: [{ value: email, type: 'work', primary: true }], phoneNumbers };
    return { userName, userNameKey: userName, email, emailKey: email, phone: phone ?? null, attributes };
  }

  private async modelOf(project: Project, name: string, clients: number): Promise<ProjectModel> {
    const { make } = this.processes.apps[0];
    const by = { projectId: project.id, name: 'Directory' };
    const { token } = await this.services.directories.issueScimToken(by, system);
    const model: ProjectModel = { id: project.id, slug: project.slug, name, clients: [], scimToken: token };
    for (let n = 0; n < clients; n++) {
      const redirectUri = `https://app.example.com/callback${n}`;
      // The pages of the first application opted in to passkeys, those of the second have the issuer's origin.
      const relatedOrigins = n === 0 && name === 'First';
      const origin = n === 1 ? new URL(this.issuer).origin : new URL(redirectUri).origin;
      const redirectUris = [redirectUri, `${origin}/of-the-sdk`];
      const grantTypes = ['refresh_token' as const];
      const wanted = { name: `${name} ${n}`, redirectUris, grantTypes, relatedOrigins };
      const created = await make.client(project, wanted);
      const { publishableKey: apiKey, secretKey } = created;
      model.clients.push({
        ...this.clientModel(model, created.client.id, redirectUri),
        origin,
        relatedOrigins,
        apiKey,
        secretKey,
      });
    }
    return model;
  }

  private clientModel(project: ProjectModel, id: string, redirectUri: string): ClientModel {
    const name = `${project.name} ${project.clients.length}`;
    const { origin } = new URL(redirectUri);
    const client = { id, name, project, redirectUri, origin, relatedOrigins: false, apiKey: '', secretKey: '' };
    const rules = { isDisabled: false, isPasskeyRequired: false };
    return { ...client, ...rules };
  }

  private async admin(project: Project, email: string, role: Role, about?: Project): Promise<void> {
    const user = await this.processes.apps[0].make.user(project, this.login(email, email));
    await this.services.db.transaction(async (em) => {
      const { clock } = this.processes;
      const grant = { user, role, project: about?.id ?? null, createdAt: clock.now() };
      em.create(Membership, { id: user.id, ...grant });
    });
  }

  clients(): ClientModel[] {
    return this.projects.flatMap(({ clients }) => clients);
  }

  userOf(projectId: string, email: string): string | undefined {
    return [...this.model.users.values()].find(
      (row) => row['project_id'] === projectId && row['email_key'] === email,
    )?.['id'];
  }

  /** Delivers queued mail and SMS, and records which mailbox received which code. */
  async deliver(): Promise<void> {
    if (!this.processes.log.hasWaiting) return;
    for (const message of await this.processes.deliver()) {
      this.inbox.push(message);
      this.arrived(message);
    }
    absorb(this.model, await this.processes.log.read());
  }

  private arrived({ messageId, to, text }: Delivered): void {
    this.noteLink(messageId, to, text);
    const made = this.model.waiting.get(messageId);
    if (!made) return;
    const code = /\b(\d{6}|[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5})\b/.exec(text)?.[1]?.replace('-', '');
    if (code === undefined) return;
    const users = made.reach.get(fold(to));
    demand(users, `a code made for ${[...made.reach.keys()].join(', ')} was sent to ${to}`);
    const isInTime = this.now() - made.madeAt < 5 * 60_000 + toleranceMs;
    demand(isInTime, 'a code was sent after its expiry');
    this.model.deliveries.push({ ...made, users, code, to: fold(to), deliveredStep: this.model.step });
  }

  /** The link in the notice of a recovery grant. */
  private noteLink(messageId: string, to: string, text: string): void {
    const recovery = this.model.notices.get(messageId);
    if (!recovery) return;
    const address = fold(to);
    demand(recovery.mailboxes.includes(address), `the notice of a recovery went to ${address}, of another person`);
    const [, query = null] = /\/account\/recovery\?(\S+)/.exec(text) ?? [];
    demand(query, `the notice of a recovery to ${address} has no link that cancels it`);
    recovery.link = query;
  }

  graphql(process: string, query: string, variables: object, headers?: Record<string, string>): Promise<Reply> {
    const own = headers ?? { Authorization: `Bearer ${bootstrapToken}` };
    const body = JSON.stringify({ query, variables });
    return send('POST', `${process}/admin/graphql`, { 'Content-Type': 'application/json', ...own }, body);
  }

  scim(
    process: string,
    project: Pick<ProjectModel, 'id' | 'scimToken'>,
    method: string,
    path: string,
    body: object,
  ): Promise<Reply> {
    const headers = { Authorization: `Bearer ${project.scimToken}`, 'Content-Type': 'application/scim+json' };
    return send(method, `${process}/v1/scim/${project.id}${path}`, headers, JSON.stringify(body));
  }
}
