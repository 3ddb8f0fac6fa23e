import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { rsaKey, type TestKey } from '../../test/saml.ts';
import { ServiceProvider, sloUrl } from '../../test/saml-sp.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { fromQuery, isQuerySigned, redirectTo } from '../domain/saml/bindings.ts';
import {
  type LogoutRequest,
  newLogoutRequest,
  newLogoutResponse,
  readLogoutRequest,
} from '../domain/saml/messages/logout.ts';
import type { StatusName } from '../domain/saml/names.ts';
import { pemOf, readCertificate } from '../domain/saml/security/certificate.ts';
import { signed } from '../domain/saml/security/sign.ts';
import { read } from '../domain/saml/xml/reader.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let wiki: ServiceProvider;
let desk: ServiceProvider;
const deskKey = rsaKey();
const deskSlo = 'https://desk.example/slo?tenant=1';

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  wiki = await ServiceProvider.at(app, project, { name: 'Wiki', samlLogoutUri: sloUrl });
  desk = await provider('desk', { samlLogoutUri: deskSlo });
  await wiki.signIn(user);
  share(wiki, desk);
});

function provider(name: string, settings: Parameters<typeof ServiceProvider.at>[2] = {}) {
  const samlEntityId = `https://${name}.example`;
  return ServiceProvider.at(
    app,
    project,
    { name, samlEntityId, samlCertificates: [pemOf(deskKey.certificate)], ...settings },
    deskKey,
  );
}

const share = (from: ServiceProvider, to: ServiceProvider) => {
  to.browser = from.browser;
};

/** What the page asks an application. */
interface Asked {
  target: string;
  request: LogoutRequest;
}

/** The page that waits for the applications: their requests, with checked signatures, and its next address. */
async function waiting(page: Response): Promise<{ asked: Asked[]; next: string }> {
  const html = await page.text();
  expect(page.status, html).toBe(200);
  const decoded = (text: string) => text.replaceAll('&amp;', '&');
  const { signingCertificates } = await wiki.metadata();
  const keys = signingCertificates.map((pem) => readCertificate(pem).key);
  const asked = [...html.matchAll(/<iframe [^>]*src="([^"]+)"/g)].map(([, src = '']) => {
    const url = new URL(decoded(src));
    const given = url.search.slice(1).replace('tenant=1&', '');
    expect(isQuerySigned(given, 'SAMLRequest', { keys })).toBe(true);
    const request = readLogoutRequest(read(fromQuery(url.searchParams.get('SAMLRequest') ?? '')));
    return { target: url.origin, request };
  });
  const next = decoded(/id="next" href="([^"]+)"/.exec(html)?.[1] ?? '');
  // Bounded without script, too.
  expect(decoded(html)).toContain(`<meta http-equiv="refresh" content="10; url=${next}">`);
  return { asked, next };
}

interface Answer {
  detail?: StatusName | undefined;
  key?: TestKey | null;
  issuer?: string;
  inResponseTo?: string;
  destination?: string;
  at?: Date;
}

/** The answer of the desk, by its frame. */
async function answer({ request }: Asked, over: Answer = {}): Promise<Response> {
  const envelope = {
    ...{ id: `_answer${Math.random()}`, issuer: 'https://desk.example', at: app.clock.now() },
    ...{ destination: `${wiki.issuer}/saml/slo`, inResponseTo: request.id, ...over },
  };
  const { xml } = newLogoutResponse(envelope, over.detail);
  const message = { name: 'SAMLResponse', xml } as const;
  const url = await redirectTo(`${wiki.issuer}/saml/slo`, message, over.key ?? deskKey);
  return wiki.browser.get(over.key === null ? url.replace(/&SigAlg=.*/, '') : url);
}

async function logoutOf(sp: ServiceProvider, sessionIndexes?: readonly string[]): Promise<Response> {
  const { subject, sessionIndex = '' } = await sp.answerOf(await sp.ask());
  const envelope = { id: sp.requestId.replace('_', '_l'), issuer: sp.client.samlEntityId ?? '', at: app.clock.now() };
  const about = { nameId: subject, sessionIndexes: sessionIndexes ?? [sessionIndex] };
  const { xml } = newLogoutRequest({ ...envelope, destination: `${sp.issuer}/saml/slo` }, about);
  const message = { name: 'SAMLRequest', xml, relayState: 'r' } as const;
  return sp.browser.get(await redirectTo(`${sp.issuer}/saml/slo`, message, sp.key));
}

const isSignedIn = async (sp = wiki) => (await sp.ask()).status === 200;
const statusAt = (response: Response) => {
  const to = locationOf(response);
  expect(to.href.startsWith(sloUrl)).toBe(true);
  expect(to.searchParams.get('RelayState')).toBe('r');
  const xml = fromQuery(to.searchParams.get('SAMLResponse') ?? '').toString();
  return [...xml.matchAll(/status:(\w+)"/g)].map(([, code]) => code).join(' ');
};

describe('a logout by an application', () => {
  it('asks the other application of the session, and is answered with success after its answer', async () => {
    const { subject, sessionIndex } = await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await logoutOf(wiki));
    expect(asked).toMatchObject([
      {
        target: 'https://desk.example',
        request: {
          ...{ issuer: `${wiki.issuer}/saml/metadata`, destination: deskSlo, nameId: subject },
          sessionIndexes: [sessionIndex],
        },
      },
    ]);
    expect(await isSignedIn()).toBe(false);
    const answered = await answer(asked[0] as Asked);
    expect(answered.status).toBe(200);
    expect(answered.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    expect(answered.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(statusAt(await wiki.browser.get(next))).toBe('Success');
  });

  it('takes an answer by POST, too', async () => {
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await logoutOf(wiki));
    const envelope = { id: '_a', issuer: 'https://desk.example', at: app.clock.now() };
    const to = { destination: `${wiki.issuer}/saml/slo`, inResponseTo: asked[0]?.request.id ?? '' };
    const { xml } = await signed(newLogoutResponse({ ...envelope, ...to }), deskKey);
    const form = { SAMLResponse: Buffer.from(xml).toString('base64') };
    expect((await wiki.browser.post(`${wiki.issuer}/saml/slo`, form)).status).toBe(200);
    expect(statusAt(await wiki.browser.get(next))).toBe('Success');
  });

  it('names the NameID that the application received', async () => {
    const nameIdFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    await desk.answerOf(await desk.ask({ nameIdFormat }));
    const { asked } = await waiting(await logoutOf(wiki));
    expect(asked[0]?.request.nameId).toEqual({ format: nameIdFormat, value: user.email });
  });

  it('names a pairwise, transient or attribute NameID as the application received it', async () => {
    const { clients } = app.services;
    for (const samlNameId of ['pairwise', 'transient', 'attribute'] as const) {
      await wiki.signIn(user);
      const settings = { samlNameId, samlNameIdAttribute: 'preferred_username' };
      await clients.update({ project, id: desk.client.id }, settings, { kind: 'system' });
      const { subject } = await desk.answerOf(await desk.ask());
      const { asked } = await waiting(await logoutOf(wiki));
      expect(asked[0]?.request.nameId).toEqual(subject);
      // Its own logout names it, too.
      await wiki.signIn(user);
      expect(locationOf(await logoutOf(desk)).href).toContain(deskSlo);
      expect(await isSignedIn()).toBe(false);
    }
  });

  it.each<[string, (asked: Asked) => Promise<unknown>]>([
    ['does not answer', async () => undefined],
    ['answers an error', (asked) => answer(asked, { detail: 'requestDenied' })],
    ['answers for another session', (asked) => answer(asked, { inResponseTo: '_of_another_session' })],
    [
      'is answered for by another application',
      (asked) => answer(asked, { issuer: 'https://sp.example.com/metadata', key: wiki.key }),
    ],
  ])('has the status PartialLogout if an application %s', async (_, act) => {
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await logoutOf(wiki));
    await act(asked[0] as Asked);
    expect(statusAt(await wiki.browser.get(next))).toBe('Responder PartialLogout');
    expect(await isSignedIn()).toBe(false);
  });

  it.each<[string, Answer]>([
    ['unsigned', { key: null }],
    ['signed by another key', { key: rsaKey() }],
    ['of an unknown application', { issuer: 'https://unknown.example' }],
    ['to another endpoint', { destination: 'https://other.example' }],
    ['too old', { at: new Date('2020-01-01T00:00:00Z') }],
  ])('refuses an answer that is %s, and records nothing', async (_, over) => {
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await logoutOf(wiki));
    const recorded = () => rows(app.services.db, `select 1 from used_assertions where client_id = '${desk.client.id}'`);
    const before = await recorded();
    expect((await answer(asked[0] as Asked, over)).status).toBe(400);
    expect(await recorded()).toHaveLength(before.length);
    expect(statusAt(await wiki.browser.get(next))).toBe('Responder PartialLogout');
  });

  it('says that an application without a single logout URL was not asked', async () => {
    const silent = await provider('silent', { samlLogoutUri: null });
    share(wiki, silent);
    await silent.answerOf(await silent.ask());
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await logoutOf(wiki));
    expect(asked).toHaveLength(1);
    await answer(asked[0] as Asked);
    expect(statusAt(await wiki.browser.get(next))).toBe('Responder PartialLogout');
  });

  it('without a SessionIndex ends all sessions of the user, whom the session of the browser names', async () => {
    const elsewhere = new ServiceProvider(app, project, desk.client, deskKey);
    await elsewhere.signIn(user);
    await elsewhere.answerOf(await elsewhere.ask());
    const { asked } = await waiting(await logoutOf(wiki, []));
    expect(asked[0]?.request.sessionIndexes).toHaveLength(1);
    expect([await isSignedIn(), await isSignedIn(elsewhere)]).toEqual([false, false]);
  });

  it('without a SessionIndex ends nothing in the browser of another user, or without a session', async () => {
    const { subject } = await wiki.answerOf(await wiki.ask());
    for (const isElsewhere of [true, false]) {
      const other = new ServiceProvider(app, project, wiki.client);
      if (isElsewhere) await other.signIn(await app.make.user(project));
      const envelope = { id: `_${isElsewhere}`, issuer: wiki.client.samlEntityId ?? '', at: app.clock.now() };
      const to = { ...envelope, destination: `${wiki.issuer}/saml/slo` };
      const { xml } = newLogoutRequest(to, { nameId: subject, sessionIndexes: [] });
      const message = { name: 'SAMLRequest', xml, relayState: 'r' } as const;
      const response = await other.browser.get(await redirectTo(to.destination, message, wiki.key));
      expect(statusAt(response)).toBe('Responder RequestDenied');
    }
    expect(await isSignedIn()).toBe(true);
  });

  it('by POST without a SessionIndex and without cookies is posted again from this site', async () => {
    const { subject } = await wiki.answerOf(await wiki.ask());
    const to = {
      id: '_p',
      issuer: wiki.client.samlEntityId ?? '',
      at: app.clock.now(),
      destination: `${wiki.issuer}/saml/slo`,
    };
    const { xml } = await signed(newLogoutRequest(to, { nameId: subject, sessionIndexes: [] }), wiki.key);
    const form = { SAMLRequest: Buffer.from(xml).toString('base64'), RelayState: 'r' };
    const cookies = new Map(wiki.browser.cookies);
    wiki.browser.cookies.clear();
    expect(await (await wiki.browser.post(to.destination, form)).text()).toContain('name="repeated"');
    for (const [name, value] of cookies) wiki.browser.cookies.set(name, value);
    expect(statusAt(await wiki.browser.post(to.destination, { ...form, repeated: '1' }))).toBe('Success');
    expect(await isSignedIn()).toBe(false);
  });
});

describe('the end of the logout', () => {
  it('needs its state, unaltered, of this project, and for 10 minutes at most', async () => {
    await desk.answerOf(await desk.ask());
    const { next } = await waiting(await logoutOf(wiki));
    const other = await app.make.project();
    const altered = [
      next.replace(/state=.*/, ''),
      next.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      next.replace(wiki.issuer, `${app.url}/p/${other.slug}`),
      next.replace('state=', 'state=AQ'),
    ];
    for (const one of altered) expect((await wiki.browser.get(one)).status).toBe(400);
    app.clock.turn(601);
    expect((await wiki.browser.get(next)).status).toBe(400);
  });

  it('is an error page if the application that asked has no single logout URL any more', async () => {
    await desk.answerOf(await desk.ask());
    const { next } = await waiting(await logoutOf(wiki));
    const key = { project, id: wiki.client.id };
    await app.services.clients.update(key, { samlLogoutUri: null }, { kind: 'system' });
    expect((await wiki.browser.get(next)).status).toBe(400);
  });
});

describe('a logout by an application of OpenID Connect', () => {
  async function endSession(at: 'project' | 'base', scope: 'session' | 'global', to: boolean) {
    const { client } = await app.make.client(project);
    const party = at === 'base' ? new RelyingParty(app, client) : partyAt(app, project, client);
    for (const [name, value] of wiki.browser.cookies) party.browser.cookies.set(name, value);
    const { id_token: hint } = await party.tokens();
    const asked = { client_id: client.id, id_token_hint: hint, logout_scope: scope };
    return party.endSession(to ? { ...asked, post_logout_redirect_uri: postLogoutRedirectUri } : asked);
  }

  it.each(['project', 'base'] as const)('at the %s issuer asks all SAML applications, then returns', async (at) => {
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await endSession(at, 'session', true));
    expect(asked.map(({ target }) => target)).toEqual(['https://desk.example']);
    await answer(asked[0] as Asked);
    expect((await wiki.browser.get(next)).headers.get('location')).toBe(postLogoutRedirectUri);
  });

  it('ends at the issuer of the request, also if another application is at a custom domain that was released', async () => {
    await desk.answerOf(await desk.ask());
    const released = 'https://login.acme.example';
    await changed(app.services.db, 'update participations set issuer = ? where project_id = ?', [released, project.id]);
    const { asked, next } = await waiting(await endSession('base', 'global', true));
    expect(asked[0]?.request.issuer).toBe(`${released}/saml/metadata`);
    expect(next).toContain(`${wiki.issuer}/saml/logout?`);
    await answer(asked[0] as Asked);
    expect((await wiki.browser.get(next)).headers.get('location')).toBe(postLogoutRedirectUri);
  });

  it('names those that did not confirm, and leads on', async () => {
    await desk.answerOf(await desk.ask());
    const { next } = await waiting(await endSession('project', 'session', true));
    const page = await wiki.browser.get(next);
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).toMatch(/id="unconfirmed">[^<]+<\/p><ul><li>desk<\/li>/);
    expect(html).toContain(`href="${postLogoutRedirectUri}"`);
  });

  it('without an address ends at the page “You are signed out”', async () => {
    await desk.answerOf(await desk.ask());
    const { asked, next } = await waiting(await endSession('project', 'session', false));
    await answer(asked[0] as Asked);
    const html = await (await wiki.browser.get(next)).text();
    expect(html).toContain('You are signed out');
    expect(html).not.toContain('id="unconfirmed"');
  });

  it('of scope session keeps the sessions in other browsers; of scope global it names them', async () => {
    const { sessionIndex } = await desk.answerOf(await desk.ask());
    const elsewhere = new ServiceProvider(app, project, desk.client, deskKey);
    await elsewhere.signIn(user);
    const there = await elsewhere.answerOf(await elsewhere.ask());
    const first = await waiting(await endSession('project', 'session', true));
    expect(first.asked[0]?.request.sessionIndexes).toEqual([sessionIndex]);
    expect(await isSignedIn(elsewhere)).toBe(true);
    await wiki.signIn(user);
    const again = await desk.answerOf(await desk.ask());
    const second = await waiting(await endSession('project', 'global', true));
    expect([...(second.asked[0]?.request.sessionIndexes ?? [])].sort()).toEqual(
      [again.sessionIndex, there.sessionIndex].sort(),
    );
    expect(await isSignedIn(elsewhere)).toBe(false);
  });

  it('of scope global names no session if there are more than twenty', async () => {
    for (let count = 0; count < 20; count += 1) {
      const elsewhere = new ServiceProvider(app, project, desk.client, deskKey);
      await elsewhere.signIn(user);
      await elsewhere.answerOf(await elsewhere.ask());
    }
    await desk.answerOf(await desk.ask());
    const { asked } = await waiting(await endSession('project', 'global', true));
    expect(asked.map(({ request }) => request.sessionIndexes)).toEqual([[]]);
  });

  it('without SAML applications is as before', async () => {
    expect((await endSession('project', 'session', true)).headers.get('location')).toBe(postLogoutRedirectUri);
  });

  it('does not ask a disabled application', async () => {
    await desk.answerOf(await desk.ask());
    await app.services.clients.update({ project, id: desk.client.id }, { disabled: true }, { kind: 'system' });
    expect((await endSession('project', 'session', true)).headers.get('location')).toBe(postLogoutRedirectUri);
  });
});
