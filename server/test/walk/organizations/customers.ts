import type { Client } from '../../../src/domain/clients/client.entity.ts';
import type { Connection } from '../../../src/domain/connections/connection.entity.ts';
import { newProfile } from '../../../src/domain/connections/profile.ts';
import { system } from '../../../src/domain/kernel/actor.ts';
import type { Project } from '../../../src/domain/projects/project.entity.ts';
import { keyIn } from '../../../src/domain/projects/tenant.ts';
import type { CookieBrowser } from '../../browser.ts';
import { buildTestApp, type TestApp } from '../../build-app.ts';
import type { Machine } from '../../machine.ts';
import { partyAt } from '../../project-issuer.ts';
import type { RelyingParty } from '../../relying-party.ts';
import { rows } from '../../rows.ts';
import { SamlProvider } from '../../saml-provider.ts';
import { UpstreamProvider } from '../../upstream-provider.ts';
import { type ChangeLog, type Row, watchChanges } from '../changes.ts';

/** An instance, its recorded changes, and the identity providers, which all worlds of a run share. */
export class Stage {
  static async open(): Promise<Stage> {
    const app = await buildTestApp();
    const now = () => app.clock.now();
    const open = () => UpstreamProvider.open(now);
    const oidc = { a: await open(), b: await open(), c: await open(), p: await open() };
    const saml = await SamlProvider.open(now);
    return new Stage(app, oidc, saml, await watchChanges(app.databaseUrl));
  }

  private constructor(
    readonly app: TestApp,
    readonly oidc: Record<'a' | 'b' | 'c' | 'p', UpstreamProvider>,
    readonly saml: SamlProvider,
    readonly log: ChangeLog,
  ) {}

  async close(): Promise<void> {
    await this.log.close();
    await Promise.all([...Object.values(this.oidc), this.saml].map((one) => one.close()));
    await this.app.close();
  }
}

/** The verified word of a provider, as a test sends it. */
export interface Word {
  connection: Connection;
  /** As stored: of SAML with its format. */
  subject: string;
  email: string;
}

/** A sign-in page in the browser of a person, and everything that was proved on it. */
export interface Flow {
  id: string;
  /** The callback of its last request to a provider, for replays. */
  callback?: { at: string; word: Word };
  /** The last word that was accepted in it, which may wait for the proof of an account. */
  accepted?: Word;
  /** The organization whose connection could not be reached. */
  failed?: string | undefined;
  /** Organizations of which a session of this flow may say that their connection signed in. */
  connected: Set<string>;
}

export interface Person {
  name: string;
  /** The mailbox that only this person reads. */
  address: string;
  party: RelyingParty;
  flows: Flow[];
  /** Sessions that began in this browser. */
  sessions: Set<string>;
  /** Secret of the authenticator app, if one was set up. */
  secret?: string;
}

export interface Customer {
  id: string;
  slug: string;
  domain: string;
  isDeleted: boolean;
  scim: { base: string; token: string };
  /** Ids that its directory got. */
  records: string[];
  /** Open portal links: what they may do, and the browser with the session. */
  links: { id: string; can: string[]; browser: CookieBrowser; isRevoked: boolean }[];
}

/** A connection, and the provider behind it. */
export interface Upstream {
  connection: Connection;
  customer: Customer | null;
  oidc: UpstreamProvider | null;
}

/** A code or token in the hands of the application. */
export interface Held {
  userId: string;
  organizationId: string | null;
  by: Person;
  code?: string;
  access?: string;
  refresh?: string;
}

const domains = { a: 'a-mail.example', b: 'b-mail.example', c: 'c-mail.example' };

/**
 * A project with three customers. A and B have verified their domains and a connection (A also a SAML one); the provider of C is
 * compromised. Ann and Amy work for A, Bob for B, Cat for C; Dan and Mal have private addresses.
 */
export class Customers {
  project!: Project;
  client!: Client;
  machine!: Machine;
  people: Person[] = [];
  customers: Customer[] = [];
  upstreams: Upstream[] = [];
  held: Held[] = [];
  /** Steps that reached an outcome, by name. */
  readonly reached = new Map<string, number>();
  readonly script: string[] = [];

  static async open(stage: Stage): Promise<Customers> {
    const world = new Customers(stage);
    await world.seed();
    return world;
  }

  private constructor(readonly stage: Stage) {}

  get app(): TestApp {
    return this.stage.app;
  }
  get services(): TestApp['services'] {
    return this.stage.app.services;
  }

  now(): number {
    return this.app.clock.now().getTime();
  }

  /** The first `?` is the project, unless `isOfProject` is false. */
  rows<Found extends object>(text: string, values: readonly unknown[] = [], isOfProject = true): Promise<Found[]> {
    return rows<Found>(this.services.db, text, isOfProject ? [this.project.id, ...values] : values);
  }

  key(id: string) {
    return keyIn(this.project.id, id);
  }

  customerOf(id: unknown): Customer | undefined {
    return this.customers.find((one) => one.id === id);
  }

  /** A user in an organization, with the rules of both, and what the session says of its connection. */
  async placeOf(organizationId: string, userId: string, sessionId: string | null): Promise<Row | undefined> {
    const found = await this.rows<Row>(
      `select o.slug, o.state, o.mfa_policy, o.sign_in, o.max_session_seconds, m.state as membership, p.organizations_enabled,
          u.active, s.connected
        from organizations o join projects p on p.id = o.project_id
          left join users u on u.project_id = p.id and u.id = ?
          left join organization_memberships m on m.project_id = p.id and m.organization_id = o.id and m.user_id = u.id
          left join sessions s on s.project_id = p.id and s.id = ?
        where p.id = ? and o.id = ?`,
      [userId, sessionId, this.project.id, organizationId],
      false,
    );
    return found[0];
  }

  /** Whether the organization has verified the domain of the address. */
  async hasDomain(organizationId: string, address: string): Promise<boolean> {
    const found = await this.rows(
      "select 1 from organization_domains where project_id = ? and organization_id = ? and domain = ? and state = 'verified'",
      [organizationId, address.split('@').at(-1)],
    );
    return found.length > 0;
  }

  personOf(address: string): Person | undefined {
    return this.people.find((one) => one.address === address);
  }

  private async seed(): Promise<void> {
    const { app, services, stage } = this;
    app.clock.turn(2 * 86_400);
    await services.keys.maintain();
    this.project = await app.make.project({ name: 'Acme', organizationsEnabled: true, signUp: 'open' });
    const settings = { tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['refresh_token'] } as const;
    const created = await app.make.client(this.project, { ...settings, grantTypes: ['refresh_token'] });
    this.client = created.client;
    const people = {
      ann: domains.a,
      amy: domains.a,
      bob: domains.b,
      cat: domains.c,
      dan: 'mail.example',
      mal: 'mail.example',
    };
    this.people = Object.entries(people).map(([name, domain]) => this.person(name, `${name}@${domain}`));
    const { issuer } = this.people[0]?.party ?? { issuer: '' };
    this.machine = { app, client: this.client, secret: created.clientSecret ?? '', issuer };
    for (const [slug, domain] of Object.entries(domains)) this.customers.push(await this.customer(slug, domain));
    const [a, b, c] = this.customers as [Customer, Customer, Customer];
    for (const one of [a, b]) await this.verify(one, one.domain);
    this.upstreams = [
      await this.connect(a, stage.oidc.a),
      await this.connect(a, null),
      await this.connect(b, stage.oidc.b),
      await this.connect(c, stage.oidc.c),
      await this.connect(null, stage.oidc.p),
    ];
    // Every address but Cat's has an account at the project, and Amy and Bob are at home in their organizations.
    for (const { name, address } of this.people) {
      if (name === 'cat') continue;
      const home = name === 'amy' ? a.id : name === 'bob' ? b.id : null;
      await services.db.transaction((em) =>
        services.users.create(
          em,
          { projectId: this.project.id, organizationId: home },
          newProfile(address, {}),
          'local',
          system,
        ),
      );
    }
    await this.settled();
  }

  /** Drops the changes of the test itself. */
  async settled(): Promise<void> {
    await this.app.runJobs();
    await this.stage.log.read();
  }

  private person(name: string, address: string): Person {
    return { name, address, party: partyAt(this.app, this.project, this.client), flows: [], sessions: new Set() };
  }

  private async customer(slug: string, domain: string): Promise<Customer> {
    const { directories, organizations } = this.services;
    const { id } = await organizations.create(this.project.id, { slug, name: `Customer ${slug}` }, system);
    const wanted = { projectId: this.project.id, organizationId: id, name: 'Directory' };
    const { token } = await directories.issueScimToken(wanted, system);
    const scim = { base: `${this.app.url}/v1/scim/${id}`, token };
    return { id, slug, domain, isDeleted: false, scim, records: [], links: [] };
  }

  async verify({ id }: { id: string }, domain: string): Promise<void> {
    const { organizationDomains } = this.services;
    const added = await organizationDomains.add(this.key(id), domain, system);
    await organizationDomains.verify(added, 'Contract', system);
  }

  async join(organizationId: string, userId: string): Promise<void> {
    await this.services.memberships.add(this.key(organizationId), { userId }, system);
  }

  /** @param oidc null: the SAML provider */
  private async connect(customer: Customer | null, oidc: UpstreamProvider | null): Promise<Upstream> {
    const { connections } = this.services;
    const of = {
      projectId: this.project.id,
      organizationId: customer?.id,
      preset: 'generic',
      name: 'Upstream',
      jit: true,
    };
    const settings = oidc
      ? ({ kind: 'oidc', oidc: { issuer: oidc.issuer, clientId: oidc.clientId, clientSecret: oidc.secret } } as const)
      : ({ kind: 'saml', saml: { metadataUrl: this.stage.saml.metadataUrl, vouchesForEmail: true } } as const);
    const created = await connections.create({ ...of, ...settings }, system);
    return { connection: await connections.setState(created, 'enabled', system), customer, oidc };
  }

  /** Has the provider answer for this account. */
  speak({ oidc }: Upstream, { subject, email }: Word): void {
    if (oidc) {
      const seconds = Math.floor(this.now() / 1000);
      oidc.person = { sub: subject, email, email_verified: true, given_name: subject, auth_time: seconds };
    } else {
      const [format = '', nameId = ''] = subject.split(' ');
      this.stage.saml.person = { nameId, format, attributes: { email } };
    }
  }

  count(name: string): void {
    this.reached.set(name, (this.reached.get(name) ?? 0) + 1);
  }
}
