/** The provider of an organization signs in only users at home there (decisions/0407), by OpenID Connect and SAML. */
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { changed, rows } from '../../test/rows.ts';
import { SamlConnectWorld } from '../../test/saml-connect-world.ts';
import { expectStatus, newAddress } from '../../test/signin-world.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const saml = SamlConnectWorld.ofTests();
const { own, world } = saml;
const services = () => world.app.services;
let places: Places;
let acme: Place;
let globex: Place;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  places = new Places(world.app, world.project);
  [acme, globex] = [await places.organization('acme'), await places.organization('globex')];
  for (const [place, domain] of [
    [acme, 'example.com'],
    [globex, 'globex.example'],
  ] as const) {
    const { organizationDomains } = services();
    const added = await organizationDomains.add(keyIn(world.project.id, place.id), domain, system);
    await organizationDomains.verify(added, 'Test', system);
  }
});

const addressIn = (domain: string) => newAddress().replace('example.com', domain);
const userAt = async (place: Place | null, email: string) => {
  const home = { projectId: world.project.id, organizationId: place?.id ?? null };
  const { db, users } = services();
  const { id } = await db.transaction((em) => users.create(em, home, newProfile(email, {}), 'local', system));
  return { id, email };
};

/** A connection of acme, the person whose account its provider names, and an answer in a browser. */
interface Kind {
  connect(): Promise<Connection>;
  become(email: string): void;
  through(browser: HostedBrowser, connection: Connection): Promise<URL>;
}

const kinds: [name: string, kind: Kind][] = [
  [
    'OpenID Connect',
    {
      connect: () => own.connect({ organizationId: acme.id }),
      become: (email) => {
        Object.assign(own.provider.person, { sub: `sub-${email}`, email });
      },
      through: async (browser, by) =>
        locationOf(await browser.browser.get(own.provider.agree(await own.start(browser, by)).href)),
    },
  ],
  [
    'SAML',
    {
      connect: () => saml.connect({ organizationId: acme.id }),
      become: (email) => {
        saml.newPerson({ email });
      },
      through: (browser, by) => saml.through(browser, by),
    },
  ],
];

describe.each(kinds)('%s', (_, kind) => {
  let connection: Connection;
  beforeEach(async () => {
    connection = await kind.connect();
  });

  /** Links the account of a guest, who proves it, and ends the session. */
  async function linked(email: string): Promise<void> {
    kind.become(email);
    const browser = await own.browser();
    expect((await kind.through(browser, connection)).pathname).toBe('/signin');
    expectStatus(await browser.register(email), 'SUCCESS');
    expect(await own.identities()).toHaveLength(1);
  }

  it.each([
    ['the project', async () => (await userAt(null, addressIn('other.example'))).email],
    ['another organization', async () => (await userAt(globex, addressIn('globex.example'))).email],
  ])('signs in a guest from %s only with a code of theirs', async (_home, create) => {
    const email = await create();
    await linked(email);
    const before = await own.sessions();
    const browser = await own.browser();
    expect((await kind.through(browser, connection)).pathname).toBe('/signin');
    expect(await own.sessions()).toBe(before);
    const { page } = browser;
    await page.challenge();
    const resumed = await page.post('resume', {});
    expect(resumed).toMatchObject({ status: 'PENDING', userid: email });
    page.txn = resumed['txn'];
    // A key of this browser, registered now, is no proof: the code follows.
    const factor = { userid: email, mfa_method: 'totp' };
    expectStatus(await page.step('verify-device', factor, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await page.step('authenticate', { userid: email }, 'use'), 'OTP_NEEDED');
    const factors = await rows(services().db, 'select 1 from enrolments where project_id = ?', [world.project.id]);
    expect([await own.sessions(), factors]).toEqual([before, []]);
    const otp = await world.codeFor(email);
    expectStatus(await page.step('verify-email-otp', { userid: email, otp }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid: email }, 'registration'), 'SUCCESS');
    expect(await own.sessions()).toBe(before + 1);
  });

  it('signs in a person at home, and no longer once their home is another one', async () => {
    const { email, id } = await userAt(acme, newAddress());
    kind.become(email);
    expect((await kind.through(await own.browser(), connection)).pathname).toBe('/authorize/resume');
    await changed(services().db, 'update users set organization_id = null where id = ?', [id]);
    expect((await kind.through(await own.browser(), connection)).pathname).toBe('/signin');
  });
});
