import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { Connection } from '../src/domain/connections/connection.entity.ts';
import type { NewConnection } from '../src/domain/connections/connections.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { nameIdFormats } from '../src/domain/saml/names.ts';
import { CookieBrowser, locationOf } from './browser.ts';
import { ConnectWorld } from './connect-world.ts';
import type { HostedBrowser } from './hosted-browser.ts';
import { type SamlForm, SamlProvider } from './saml-provider.ts';
import { newAddress } from './signin-world.ts';

/** A running instance, and a SAML provider with an enabled connection of the current project. */
export class SamlConnectWorld {
  provider!: SamlProvider;
  connection!: Connection;

  private constructor(readonly own: ConnectWorld) {}

  static ofTests(): SamlConnectWorld {
    const saml = new SamlConnectWorld(ConnectWorld.ofTests());
    beforeAll(async () => {
      saml.provider = await SamlProvider.open(() => saml.world.app.clock.now());
    });
    afterAll(() => saml.provider.close());
    beforeEach(async () => {
      saml.provider.lies = {};
      saml.provider.others = [];
      saml.newPerson();
      saml.connection = await saml.connect();
    });
    return saml;
  }

  get world() {
    return this.own.world;
  }

  /** Another person signs in at the provider; their address. */
  newPerson(attributes: Record<string, string> = {}): string {
    const email = newAddress();
    const nameId = randomBytes(8).toString('hex');
    this.provider.person = { nameId, format: nameIdFormats.persistent, attributes: { email, ...attributes } };
    return email;
  }

  /** A connection to the provider, enabled. */
  async connect(over: Partial<NewConnection> = {}, saml: NewConnection['saml'] = {}): Promise<Connection> {
    const { connections } = this.world.app.services;
    const metadata = { metadataUrl: this.provider.metadataUrl, vouchesForEmail: true, ...saml };
    const of = { projectId: this.world.project.id, kind: 'saml', preset: 'generic' } as const;
    const created = await connections.create({ ...of, name: 'Staff', jit: true, saml: metadata, ...over }, system);
    return connections.setState(created, 'enabled', system);
  }

  start(browser: HostedBrowser, connection = this.connection): Promise<URL> {
    return this.own.start(browser, connection);
  }

  /** The form that answers a request of the browser. */
  async answer(browser: HostedBrowser, connection = this.connection): Promise<SamlForm> {
    return this.provider.agree(await this.start(browser, connection));
  }

  /** Delivers an answer: the site of the provider has the browser post it, without cookies of ours. */
  deliver({ action, fields }: SamlForm): Promise<Response> {
    return new CookieBrowser().post(action, fields, { Origin: this.provider.origin });
  }

  /** Delivers an answer, and continues in the browser: where that leads. */
  async finish(browser: HostedBrowser, form: SamlForm): Promise<URL> {
    const delivered = await this.deliver(form);
    expect(delivered.status).toBe(303);
    return locationOf(await browser.browser.get(locationOf(delivered).href));
  }

  async through(browser: HostedBrowser, connection = this.connection): Promise<URL> {
    return this.finish(browser, await this.answer(browser, connection));
  }

  /** A whole sign-in without another step: the claims of the ID token. */
  async signIn(over: Record<string, string | undefined> = {}): Promise<Record<string, unknown>> {
    const browser = await this.own.browser(over);
    const resume = await this.through(browser);
    return browser.claimsAt(locationOf(await browser.browser.get(resume.href)));
  }

  stored(): Promise<Connection> {
    const where = { project: this.world.project.id, id: this.connection.id };
    return this.world.app.services.db.reader().findOneOrFail(Connection, where) as Promise<Connection>;
  }
}
