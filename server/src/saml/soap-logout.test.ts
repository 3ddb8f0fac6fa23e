/** Logout of SAML applications over SOAP (decisions/0420): who is asked, with which NameID, and which responses count. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { rows, tablesThatHold } from '../../test/rows.ts';
import { rsaKey } from '../../test/saml.ts';
import { ServiceProvider, sloUrl } from '../../test/saml-sp.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { redirectTo } from '../domain/saml/bindings.ts';
import { issuerOf } from '../domain/saml/messages/authn-request.ts';
import {
  type LogoutRequest,
  newLogoutRequest,
  newLogoutResponse,
  readLogoutRequest,
} from '../domain/saml/messages/logout.ts';
import { pemOf, readCertificate } from '../domain/saml/security/certificate.ts';
import { signed } from '../domain/saml/security/sign.ts';
import { verified } from '../domain/saml/security/verify.ts';
import { fromEnvelope, inEnvelope } from '../domain/saml/soap.ts';
import { type Markup, raw } from '../domain/saml/xml/write.ts';
import type { User } from '../domain/users/user.entity.ts';

const entityId = 'https://desk.example';
const deskKey = rsaKey();
let app: TestApp;
let project: Project;
let user: User;
let wiki: ServiceProvider;
let desk: ServiceProvider;
/** Requests that the desk received. */
let received: LogoutRequest[];
/** The response of the desk. */
let respond: (request: LogoutRequest) => { status?: number; body: string } | Promise<{ status?: number; body: string }>;
let receiver: Server;
let soapUri: string;

const envelopeOf = (markup: Markup) => ({ body: inEnvelope(markup).xml });
const responseTo = ({ id }: Pick<LogoutRequest, 'id'>, over: object = {}, detail?: 'requestDenied') =>
  newLogoutResponse(
    { id: '_r', issuer: entityId, at: app.clock.now(), destination: '', inResponseTo: id, ...over },
    detail,
  );

beforeAll(async () => {
  app = await buildTestApp();
  receiver = createServer((req, res) => {
    void req.toArray().then(async (chunks) => {
      expect(req.headers['content-type']).toBe('text/xml; charset=utf-8');
      expect(req.headers['soapaction']).toBe('"http://www.oasis-open.org/committees/security"');
      const { signingCertificates } = await wiki.metadata();
      const keys = signingCertificates.map((pem) => readCertificate(pem).key);
      const message = fromEnvelope(Buffer.concat(chunks));
      // A delivery of an earlier test.
      if (issuerOf(message) !== `${wiki.issuer}/saml/metadata`) return res.end();
      const request = readLogoutRequest(verified(message, { keys }));
      received.push(request);
      const { status = 200, body } = await respond(request);
      return res.writeHead(status, { Location: 'http://127.0.0.1:1/' }).end(body);
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  soapUri = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/soap`;
});
afterAll(async () => {
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  received = [];
  respond = (request) => envelopeOf(responseTo(request));
  project = await app.make.project();
  user = await app.make.user(project, { provenance: 'scim' });
  wiki = await ServiceProvider.at(app, project, { name: 'Wiki', samlLogoutUri: sloUrl });
  desk = await deskOf();
  await wiki.signIn(user);
  desk.browser = wiki.browser;
});

type Settings = NonNullable<Parameters<typeof ServiceProvider.at>[2]>;

function deskOf(settings: Settings = {}): Promise<ServiceProvider> {
  const samlCertificates = [pemOf(deskKey.certificate)];
  const own = { name: 'Desk', samlEntityId: entityId, samlLogoutSoapUri: soapUri, samlCertificates };
  return ServiceProvider.at(app, project, { ...own, ...settings }, deskKey);
}

async function logoutOf(sp: ServiceProvider): Promise<Response> {
  const { subject, sessionIndex = '' } = await sp.answerOf(await sp.ask());
  const envelope = { id: sp.requestId.replace('_', '_l'), issuer: sp.client.samlEntityId ?? '', at: app.clock.now() };
  const about = { nameId: subject, sessionIndexes: [sessionIndex] };
  const { xml } = newLogoutRequest({ ...envelope, destination: `${sp.issuer}/saml/slo` }, about);
  return sp.browser.get(await redirectTo(`${sp.issuer}/saml/slo`, { name: 'SAMLRequest', xml }, sp.key));
}

const deliveries = () =>
  rows<{ state: string; attempts: { status?: number; error?: string }[]; is_kept: boolean }>(
    app.services.db,
    `select state, attempts, sealed_name_id is not null as is_kept from logout_deliveries
      where project_id = ? order by id`,
    [project.id],
  );
const endSessions = () => app.services.accountAccess.endSessions(project.id, user.id, system);

describe('an application with a SOAP endpoint', () => {
  it('is asked by this server, and not in a frame, when another application ends the session', async () => {
    const { subject, sessionIndex } = await desk.answerOf(await desk.ask());
    const response = await logoutOf(wiki);
    expect(locationOf(response).href).toContain(sloUrl);
    await app.runJobs();
    expect(received).toMatchObject([
      {
        ...{ issuer: `${wiki.issuer}/saml/metadata`, destination: soapUri, nameId: subject },
        ...{ sessionIndexes: [sessionIndex], issueInstant: app.clock.now() },
        notOnOrAfter: new Date(app.clock.now().getTime() + 120_000),
      },
    ]);
    expect(await deliveries()).toMatchObject([{ state: 'delivered', attempts: [{ status: 200 }], is_kept: false }]);
  });

  it('is not asked for the logout that it began', async () => {
    await app.services.clients.update(keyIn(project.id, desk.client.id), { samlLogoutUri: sloUrl }, system);
    await wiki.answerOf(await wiki.ask());
    await logoutOf(desk);
    await app.runJobs();
    expect(received).toEqual([]);
  });

  it('is asked about one session that an application of OpenID Connect ends, or about all for a global logout', async () => {
    const { client } = await app.make.client(project);
    const party = partyAt(app, project, client);
    for (const scope of ['session', 'global']) {
      const id = await wiki.signIn(user);
      for (const [name, value] of wiki.browser.cookies) party.browser.cookies.set(name, value);
      await desk.answerOf(await desk.ask());
      const { id_token: hint } = await party.tokens();
      app.clock.turn(1);
      await party.endSession({ client_id: client.id, id_token_hint: String(hint), logout_scope: scope });
      const sessionIndexes = scope === 'session' ? [`_${id}`] : [];
      await app.runJobs();
      expect(received.splice(0).map((one) => one.sessionIndexes)).toEqual([sessionIndexes]);
    }
  });

  it.each<[string, () => Promise<unknown>]>([
    ['an admin ends the sessions', endSessions],
    ['a directory deactivates the user', () => app.services.accounts.setActive(project.id, user.id, false, scim())],
    ['an admin erases the user', () => app.services.accountAccess.erase(project.id, user.id, system)],
  ])('is asked when %s, about all sessions', async (_name, act) => {
    const { subject } = await desk.answerOf(await desk.ask());
    app.clock.turn(1);
    await act();
    await app.runJobs();
    expect(received).toMatchObject([{ nameId: subject, sessionIndexes: [] }]);
  });

  it('is asked about the one session that its user ends from another device', async () => {
    const { sessionIndex } = await desk.answerOf(await desk.ask());
    const id = String(sessionIndex).slice(1);
    await app.services.accountAccess.endSession(keyIn(project.id, id), system);
    await app.runJobs();
    expect(received.map((one) => one.sessionIndexes)).toEqual([[sessionIndex]]);
  });

  it('is not asked if it is disabled, of another project, or was not used', async () => {
    const other = await app.make.project();
    await ServiceProvider.at(app, other, { samlEntityId: entityId, samlLogoutSoapUri: soapUri });
    await wiki.answerOf(await wiki.ask());
    await endSessions();
    await wiki.signIn(user);
    await desk.answerOf(await desk.ask());
    await app.services.clients.update(keyIn(project.id, desk.client.id), { disabled: true }, system);
    await endSessions();
    await app.runJobs();
    expect(received).toEqual([]);
  });
});

const scim = () => ({ kind: 'scim', id: 'x', name: 'Okta' }) as never;

describe('the NameID of the request', () => {
  it.each(['pairwise', 'email', 'attribute'] as const)(
    'is the one of kind %s, also for an inactive user',
    async (kind) => {
      const settings = { samlNameId: kind, samlNameIdAttribute: 'preferred_username' };
      await app.services.clients.update(keyIn(project.id, desk.client.id), settings, system);
      const { subject } = await desk.answerOf(await desk.ask());
      app.clock.turn(1);
      await app.services.accounts.setActive(project.id, user.id, false, scim());
      await app.runJobs();
      expect(received.map(({ nameId }) => nameId)).toEqual([subject]);
    },
  );

  it('is the e-mail address of an erased user, which is kept sealed, and only until the application has answered', async () => {
    await app.services.clients.update(keyIn(project.id, desk.client.id), { samlNameId: 'email' }, system);
    await desk.answerOf(await desk.ask());
    app.clock.turn(1);
    await app.services.accountAccess.erase(project.id, user.id, system);
    expect(await deliveries()).toMatchObject([{ state: 'pending', is_kept: true }]);
    expect(await tablesThatHold(app.services.db, [user.email ?? ''], project.id)).not.toContain('logout_deliveries');
    await app.runJobs();
    expect(received.map(({ nameId }) => nameId.value)).toEqual([user.email]);
    expect(await deliveries()).toMatchObject([{ state: 'delivered', is_kept: false }]);
  });

  it('differs in each session if it is transient: each is asked about', async () => {
    await app.services.clients.update(keyIn(project.id, desk.client.id), { samlNameId: 'transient' }, system);
    const first = await desk.answerOf(await desk.ask());
    await desk.signIn(user);
    const second = await desk.answerOf(await desk.ask());
    app.clock.turn(1);
    await endSessions();
    await app.runJobs();
    const asked = received.map(({ nameId, sessionIndexes }) => [nameId.value, sessionIndexes[0]]);
    const expected = [first, second].map(({ subject, sessionIndex }) => [subject.value, sessionIndex]);
    expect(asked.sort()).toEqual(expected.sort());
  });
});

describe('the response of the application', () => {
  const outcome = async () => {
    await desk.answerOf(await desk.ask());
    app.clock.turn(1);
    await endSessions();
    await app.runJobs();
    const [delivery] = await deliveries();
    return delivery;
  };
  const unknown = ({ id }: LogoutRequest) =>
    raw(responseTo({ id }, {}, 'requestDenied').xml.replace('RequestDenied', 'UnknownPrincipal'));

  it.each<[string, (request: LogoutRequest) => Promise<Markup> | Markup]>([
    ['signed by the application', (request) => signed(responseTo(request), deskKey)],
    ['unsigned: the connection authenticates it', responseTo],
    ['that there is no such session', unknown],
  ])('ends the delivery: %s', async (_name, of) => {
    respond = async (request) => envelopeOf(await of(request));
    expect(await outcome()).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] });
  });

  it('that denies the request ends it as failed, with an event', async () => {
    respond = (request) => envelopeOf(responseTo(request, {}, 'requestDenied'));
    const error = 'SAML status Responder RequestDenied';
    expect(await outcome()).toMatchObject({ state: 'failed', attempts: [{ error }], is_kept: true });
    const events = await rows<{ detail: object }>(
      app.services.db,
      `select detail from audit_log where project_id = ? and type = 'logout-delivery.failed'`,
      [project.id],
    );
    expect(events).toMatchObject([{ detail: { error, userId: user.id } }]);
  });

  const foreignKey = rsaKey();
  it.each<[string, RegExp, (request: LogoutRequest) => Promise<{ status?: number; body: string }>]>([
    [
      'signed by another key',
      /signature-invalid/,
      async (one) => envelopeOf(await signed(responseTo(one), foreignKey)),
    ],
    [
      'of another issuer',
      /another issuer/,
      async (one) => envelopeOf(responseTo(one, { issuer: 'https://x.example' })),
    ],
    ['to another request', /another request/, async (one) => envelopeOf(responseTo({ ...one, id: '_other' }))],
    ['with a second message', /not exactly one/, async (one) => envelopeOf(raw(responseTo(one).xml.repeat(2)))],
    ['without an envelope', /not a SOAP envelope/, async (one) => ({ body: responseTo(one).xml })],
    ['with a DTD', /malformed/, async (one) => ({ body: `<!DOCTYPE x>${envelopeOf(responseTo(one)).body}` })],
    ['of a page', /malformed/, async () => ({ body: '<p>Sign in<p>' })],
    ['of 10 MB', /too large/, async () => ({ body: 'x'.repeat(10_000_000) })],
    ['of status 400', /status 400/, async () => ({ status: 400, body: '' })],
    ['with a redirect, which is not followed', /status 302/, async () => ({ status: 302, body: '' })],
    [
      'with a fault',
      /SOAP Fault/,
      async () => envelopeOf(raw('<soap:Fault xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"/>')),
    ],
  ])('does not count, and the request is retried with another ID: %s', async (_name, error, of) => {
    respond = of;
    const delivery = await outcome();
    expect(delivery).toMatchObject({ state: 'pending', is_kept: true });
    expect(delivery?.attempts[0]?.error).toMatch(error);
    respond = (request) => envelopeOf(responseTo(request));
    app.clock.turn(60);
    await app.runJobs();
    expect((await deliveries())[0]).toMatchObject({ state: 'delivered', is_kept: false });
    const [first, second] = received;
    expect(second).toMatchObject({ nameId: first?.nameId, issueInstant: app.clock.now() });
    expect(second?.id).not.toBe(first?.id);
  });
});

describe('the settings', () => {
  it('send logout responses to another address than requests', async () => {
    const uri = 'https://sp.example.com/slo/return';
    await app.services.clients.update(keyIn(project.id, wiki.client.id), { samlLogoutResponseUri: uri }, system);
    const to = locationOf(await logoutOf(wiki));
    expect(to.origin + to.pathname).toBe(uri);
  });

  it.each([
    ['samlLogoutSoapUri', { samlLogoutSoapUri: 'ftp://x.example/' }],
    ['samlLogoutSoapUri', { samlLogoutSoapUri: 'http://sp.example.com/' }],
    ['samlLogoutResponseUri', { samlLogoutResponseUri: 'javascript:alert(1)' }],
    ['samlLogoutUri', { samlLogoutResponseUri: 'https://sp.example.com/return', samlLogoutUri: null }],
  ])('refuse %s %j', async (field, settings) => {
    const update = async () => app.services.clients.update(keyIn(project.id, wiki.client.id), settings, system);
    await expect(update()).rejects.toMatchObject({ problem: { code: 'invalid', field } });
  });
});
