/** What ends while a sign-in by a provider of an organization is under way, by OpenID Connect and SAML. */
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { changed, rows } from '../../test/rows.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import { newAddress } from '../../test/signin-world.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import { keyIn, type TenantKey } from '../domain/projects/tenant.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
let acme: Place;
let domain: TenantKey;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  acme = await new Places(world.app, world.project).organization('acme');
  const { organizationDomains } = services();
  const added = await organizationDomains.add(keyIn(world.project.id, acme.id), 'example.com', system);
  await organizationDomains.verify(added, 'Test', system);
  domain = keyIn(world.project.id, added.id);
});

/** Delivers the answer of the provider: where that leads. */
type Answer = () => Promise<URL>;

interface Kind {
  connect(): Promise<Connection>;
  become(email: string): void;
  agree(browser: HostedBrowser, connection: Connection, flow: string): Promise<Answer>;
}

const kinds: [name: string, kind: Kind][] = [
  [
    'OpenID Connect',
    {
      connect: () => own.connect({ organizationId: acme.id }),
      become: (email) => {
        Object.assign(own.provider.person, { email, email_verified: undefined });
      },
      agree: async (browser, by, flow) => {
        const back = own.provider.agree(await own.start(browser, by, flow));
        return async () => locationOf(await browser.browser.get(back.href));
      },
    },
  ],
  [
    'SAML',
    {
      connect: () => saml.connect({ organizationId: acme.id }),
      become: (email) => {
        saml.newPerson({ email });
      },
      agree: async (browser, by, flow) => {
        const form = await saml.provider.agree(await own.start(browser, by, flow));
        return () => saml.finish(browser, form);
      },
    },
  ],
];

/** A request for the organization at the project issuer; its flow. */
async function asked(browser: HostedBrowser): Promise<string> {
  const query = new URLSearchParams({
    ...{ client_id: world.client.id, redirect_uri: world.client.redirectUris[0] ?? '', scope: 'openid', state: 'x' },
    ...{ response_type: 'code', organization: 'acme', code_challenge_method: 'S256' },
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  });
  const issuer = projectIssuerUrl(world.app.url, world.project.slug);
  const page = locationOf(await browser.browser.get(`${issuer}/authorize?${query}`));
  return page.searchParams.get('flow') ?? '';
}
const codes = async () =>
  (await rows(services().db, 'select 1 from authorization_codes where project_id = ?', [world.project.id])).length;
const suspend = () => services().organizations.update(keyIn(world.project.id, acme.id), { state: 'suspended' }, system);

describe.each(kinds)('%s', (_, kind) => {
  let connection: Connection;
  let email: string;
  let browser: HostedBrowser;
  beforeEach(async () => {
    connection = await kind.connect();
    email = newAddress();
    kind.become(email);
    browser = await own.browser();
  });

  it('a domain that is lost before the answer links and creates no user', async () => {
    const answer = await kind.agree(browser, connection, await asked(browser));
    await services().organizationDomains.remove(domain, system);
    expect((await answer()).pathname).toBe('/signin');
    expect([await world.findUser(email), await own.identities(), await own.sessions()]).toEqual([null, [], 0]);
  });

  it('an organization that is suspended before the answer takes none', async () => {
    const answer = await kind.agree(browser, connection, await asked(browser));
    await suspend();
    expect((await answer()).searchParams.get('connect')).toBe('off');
    expect([await world.findUser(email), await own.identities(), await own.sessions()]).toEqual([null, [], 0]);
  });

  it.each([
    [
      'a membership that ends',
      () =>
        changed(services().db, "update organization_memberships set state = 'suspended' where project_id = ?", [
          world.project.id,
        ]),
    ],
    ['an organization that is suspended', suspend],
  ])('%s between the answer and the code gives no code', async (_name, end) => {
    const home = { projectId: world.project.id, organizationId: acme.id };
    const { db, users } = services();
    await db.transaction((em) => users.create(em, home, newProfile(email, {}), 'local', system));
    const answer = await kind.agree(browser, connection, await asked(browser));
    const resume = await answer();
    expect(resume.pathname).toMatch(/\/authorize\/resume$/);
    await end();
    const page = await browser.browser.get(resume.href);
    expect(page.headers.get('location') ?? '').not.toContain('code=');
    expect(await codes()).toBe(0);
  });
});
