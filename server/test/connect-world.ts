import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Connection } from '../src/domain/connections/connection.entity.ts';
import type { NewConnection } from '../src/domain/connections/connections.ts';
import { Identity } from '../src/domain/connections/identity.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { SoftAuthenticator } from './authenticator.ts';
import { locationOf } from './browser.ts';
import { HostedBrowser } from './hosted-browser.ts';
import { SigninWorld } from './signin-world.ts';
import { UpstreamProvider } from './upstream-provider.ts';

/** A running instance, and an upstream provider with an enabled connection of the current project. */
export class ConnectWorld {
  provider!: UpstreamProvider;
  connection!: Connection;

  private constructor(readonly world: SigninWorld) {}

  static ofTests(settings: Parameters<typeof SigninWorld.ofTests>[0] = {}): ConnectWorld {
    const world = SigninWorld.ofTests(settings);
    const own = new ConnectWorld(world);
    beforeAll(async () => {
      own.provider = await UpstreamProvider.open(() => world.app.clock.now());
    });
    afterAll(() => own.provider.close());
    beforeEach(async () => {
      own.provider.lies = {};
      own.provider.person = { sub: `sub-${own.provider.requests.length}`, email_verified: true };
      own.connection = await own.connect();
    });
    return own;
  }

  /** A connection to the provider, enabled. */
  async connect(over: Partial<NewConnection> = {}, issuer = this.provider.issuer): Promise<Connection> {
    const { connections } = this.world.app.services;
    const { clientId, secret } = this.provider;
    const oidc = { issuer, clientId, clientSecret: secret };
    const input = {
      projectId: this.world.project.id,
      kind: 'oidc' as const,
      preset: 'generic',
      name: 'Upstream',
      jit: true,
      oidc,
      ...over,
    };
    const created = await connections.create(input, system);
    return connections.setState(created, 'enabled', system);
  }

  async browser(over: Record<string, string | undefined> = {}): Promise<HostedBrowser> {
    const browser = new HostedBrowser(this.world, new SoftAuthenticator());
    await browser.open(over);
    return browser;
  }

  /** From the sign-in page to the provider. */
  async start(browser: HostedBrowser, connection = this.connection, flow = browser.flow): Promise<URL> {
    const address = `${this.world.app.url}/connect/${connection.id}/start?flow=${flow}`;
    return locationOf(await browser.browser.get(address));
  }

  /** Through the provider and back: where the callback leads. */
  async through(browser: HostedBrowser): Promise<URL> {
    return locationOf(await browser.browser.get(this.provider.agree(await this.start(browser)).href));
  }

  /** A whole sign-in without another step: the claims of the ID token. */
  async signIn(over: Record<string, string | undefined> = {}): Promise<Record<string, unknown>> {
    const browser = await this.browser(over);
    const resume = await this.through(browser);
    return browser.claimsAt(locationOf(await browser.browser.get(resume.href)));
  }

  /** [user id, subject] of the identities of the project. */
  async identities(): Promise<[string, string][]> {
    const found = await this.world.app.services.db
      .reader()
      .find(Identity, { project: this.world.project.id } as never, { orderBy: { id: 'asc' } });
    return found.map((one) => [(one as Identity).user.id, (one as Identity).subject]);
  }

  /** Sessions that are open in the project. */
  async sessions(): Promise<number> {
    const rows = await this.world.app.services.db
      .reader()
      .execute<{ n: number }[]>('select count(*)::int as n from sessions where project_id = ? and ended_at is null', [
        this.world.project.id,
      ]);
    return rows[0]?.n ?? 0;
  }
}
