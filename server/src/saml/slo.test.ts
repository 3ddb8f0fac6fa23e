import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { rsaKey, type TestKey } from '../../test/saml.ts';
import { ServiceProvider, sloUrl, spEntityId } from '../../test/saml-sp.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { fromQuery, isQuerySigned, redirectTo } from '../domain/saml/bindings.ts';
import { newLogoutRequest, readLogoutResponse } from '../domain/saml/messages/logout.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { readCertificate } from '../domain/saml/security/certificate.ts';
import { signed } from '../domain/saml/security/sign.ts';
import { read } from '../domain/saml/xml/reader.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let sp: ServiceProvider;
let index: string | undefined;
let subject: { format: string; value: string };

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  sp = await ServiceProvider.at(app, project, { samlLogoutUri: sloUrl });
  await sp.signIn(user);
  ({ sessionIndex: index, subject } = await sp.answerOf(await sp.ask()));
});

interface Logout {
  id?: string;
  nameId?: { format: string; value: string };
  sessionIndex?: string;
  key?: TestKey | null;
  at?: Date;
  destination?: string;
  issuer?: string;
  notOnOrAfter?: string;
}

function messageOf({ id = '_logout', nameId = subject, sessionIndex = index ?? '', at, destination, issuer }: Logout) {
  const to = destination ?? `${sp.issuer}/saml/slo`;
  const envelope = { id, issuer: issuer ?? spEntityId, at: at ?? app.clock.now(), destination: to };
  return newLogoutRequest(envelope, { nameId, sessionIndexes: sessionIndex === '' ? [] : [sessionIndex] });
}

async function logout(over: Logout = {}): Promise<Response> {
  const { xml: made } = messageOf(over);
  const end = over.notOnOrAfter;
  const xml = end === undefined ? made : made.replace(' Destination=', ` NotOnOrAfter="${end}" Destination=`);
  const message = { name: 'SAMLRequest', xml, relayState: 'r' } as const;
  const address = await redirectTo(`${sp.issuer}/saml/slo`, message, over.key ?? sp.key);
  return sp.browser.get(over.key === null ? address.replace(/&SigAlg=.*/, '') : address);
}

/** Whether the response says that the session has ended, after its signature was checked. */
async function succeeded(response: Response): Promise<boolean> {
  expect(response.status).toBe(303);
  const to = locationOf(response);
  expect(to.href.startsWith(sloUrl)).toBe(true);
  expect(to.searchParams.get('RelayState')).toBe('r');
  const keys = (await sp.metadata()).signingCertificates.map((pem) => readCertificate(pem).key);
  expect(isQuerySigned(to.search.slice(1), 'SAMLResponse', { keys })).toBe(true);
  const answer = readLogoutResponse(read(fromQuery(to.searchParams.get('SAMLResponse') ?? '')));
  expect(answer).toMatchObject({ issuer: `${sp.issuer}/saml/metadata`, inResponseTo: '_logout' });
  return answer.isSuccess;
}

const isSignedIn = async () => (await sp.ask()).status === 200;

describe('single logout by the application', () => {
  it('ends the session, also for applications of OpenID Connect, by redirect and by POST', async () => {
    const { client } = await app.make.client(project);
    const party = partyAt(app, project, client);
    for (const [name, value] of sp.browser.cookies) party.browser.cookies.set(name, value);
    expect(await party.isSignedIn()).toBe(true);
    expect(await succeeded(await logout())).toBe(true);
    expect(await isSignedIn()).toBe(false);
    expect(await party.isSignedIn()).toBe(false);
    await sp.signIn(user);
    ({ sessionIndex: index, subject } = await sp.answerOf(await sp.ask()));
    const { xml } = await signed(messageOf({ id: '_logout' }), sp.key);
    const again = { SAMLRequest: Buffer.from(xml).toString('base64'), RelayState: 'r' };
    // The ID was used: refused, and the session lives.
    expect(await succeeded(await sp.browser.post(`${sp.issuer}/saml/slo`, again))).toBe(false);
    expect(await isSignedIn()).toBe(true);
  });

  it('works with each NameID', async () => {
    for (const format of [nameIdFormats.email, nameIdFormats.transient]) {
      sp.browser.cookies.clear();
      await sp.signIn(user);
      const answer = await sp.answerOf(await sp.ask({ nameIdFormat: format }));
      const message = newLogoutRequest(
        { id: `_${format.length}`, issuer: spEntityId, at: app.clock.now(), destination: `${sp.issuer}/saml/slo` },
        { nameId: answer.subject, sessionIndexes: [answer.sessionIndex ?? ''] },
      );
      const address = await redirectTo(`${sp.issuer}/saml/slo`, { name: 'SAMLRequest', xml: message.xml }, sp.key);
      expect(locationOf(await sp.browser.get(address)).href.startsWith(sloUrl)).toBe(true);
      expect(await isSignedIn()).toBe(false);
    }
  });

  it('says that other SAML applications of the session were not notified', async () => {
    const other = await ServiceProvider.at(app, project, { samlEntityId: 'https://other.example' });
    for (const [name, value] of sp.browser.cookies) other.browser.cookies.set(name, value);
    await other.answerOf(await other.ask());
    expect(await succeeded(await logout())).toBe(false);
    expect(await isSignedIn()).toBe(false);
  });

  it.each([
    ['another person', { nameId: { format: nameIdFormats.persistent, value: 'eve' } }],
    ['another format', { nameId: { format: nameIdFormats.email, value: 'ada' } }],
    ['another session', { sessionIndex: '_01890000-0000-7000-8000-000000000000' }],
    ['SQL', { sessionIndex: `_' or 1=1 --` }],
  ])('of %s ends nothing', async (_, over) => {
    expect(await succeeded(await logout(over))).toBe(false);
    expect(await isSignedIn()).toBe(true);
  });

  it('of a session in which the application takes no part ends nothing', async () => {
    const other = await ServiceProvider.at(app, project, {
      samlEntityId: 'https://other.example',
      samlLogoutUri: sloUrl,
    });
    expect(await succeeded(await logout({ issuer: 'https://other.example' }))).toBe(false);
    expect(other.client.id).not.toBe(sp.client.id);
    expect(await isSignedIn()).toBe(true);
  });

  it.each([
    ['unsigned, as from an image', { key: null }],
    ['signed by another key', { key: rsaKey() }],
    ['too old', { at: new Date('2020-01-01T00:00:00Z') }],
    ['past its NotOnOrAfter', { notOnOrAfter: '2020-01-01T00:00:00Z' }],
    ['for another endpoint', { destination: 'https://other.example/slo' }],
    ['of an unknown application', { issuer: 'https://unknown.example' }],
  ])('%s: a page, and the session lives', async (_, over) => {
    const response = await logout(over);
    expect(response.status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });
});
