import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { Places } from '../../test/organizations.ts';
import { rows } from '../../test/rows.ts';
import { rsaKey } from '../../test/saml.ts';
import { acsUrl, formOf, ServiceProvider, spEntityId } from '../../test/saml-sp.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { readAnswer } from '../domain/saml/messages/answer.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { pemOf } from '../domain/saml/security/certificate.ts';
import { decrypt } from '../domain/saml/security/encryption.ts';
import { signed } from '../domain/saml/security/sign.ts';
import { read } from '../domain/saml/xml/reader.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let sp: ServiceProvider;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project, { givenName: 'Ada', familyName: 'King' });
  sp = await ServiceProvider.at(app, project);
});

const set = (change: Parameters<TestApp['services']['clients']['update']>[1]) =>
  app.services.clients.update({ project, id: sp.client.id }, change, system);

describe('a sign-in', () => {
  it('is answered under a live session, by redirect, with the attributes of the user', async () => {
    const sessionId = await sp.signIn(user);
    const page = await sp.ask({ relayState: 'deep link/é' });
    const form = await formOf(page.clone());
    expect(form).toMatchObject({ action: acsUrl, relayState: 'deep link/é' });
    const answer = await sp.answerOf(page);
    expect(answer.subject).toEqual({ format: nameIdFormats.persistent, value: user.id });
    expect(answer.sessionIndex).toBe(`_${sessionId}`);
    const attributes = Object.fromEntries(answer.attributes.map(({ name, values }) => [name, values]));
    expect(attributes).toMatchObject({ given_name: ['Ada'], family_name: ['King'], email: [user.email] });
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('is answered by POST, though the POST of another site has no cookies', async () => {
    await sp.signIn(user);
    const { browser } = sp;
    const SAMLRequest = Buffer.from(sp.request()).toString('base64');
    const cookies = new Map(browser.cookies);
    browser.cookies.clear();
    const again = await browser.post(`${sp.issuer}/saml/sso`, { SAMLRequest, RelayState: 'x' });
    const html = await again.text();
    expect(html).toContain(`action="${sp.issuer}/saml/sso"`);
    expect(html).toContain('name="repeated"');
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    const answer = await browser.post(`${sp.issuer}/saml/sso`, { SAMLRequest, RelayState: 'x', repeated: '1' });
    expect((await sp.answerOf(answer)).subject.value).toBe(user.id);
  });

  it('without a session leads to the hosted page, and from there to the application', async () => {
    const begun = await sp.ask({ relayState: 'r' });
    const to = locationOf(begun);
    expect(to.pathname).toBe('/signin');
    const flow = to.searchParams.get('flow') ?? '';
    // Before the sign-in, the flow leads back to it.
    expect(locationOf(await sp.browser.get(`${sp.issuer}/saml/resume?flow=${flow}`)).pathname).toBe('/signin');
    await sp.signIn(user);
    const resumed = locationOf(await sp.browser.get(`${sp.issuer}/authorize/resume?flow=${flow}`));
    expect(resumed.href).toBe(`${sp.issuer}/saml/resume?flow=${flow}`);
    const page = await sp.browser.get(resumed.href);
    expect((await formOf(page.clone())).relayState).toBe('r');
    expect((await sp.answerOf(page)).subject.value).toBe(user.id);
    // Single use.
    expect((await sp.browser.get(resumed.href)).status).toBe(400);
  });

  it('in another browser does not continue the flow', async () => {
    const to = locationOf(await sp.ask());
    const flow = to.searchParams.get('flow') ?? '';
    const other = new ServiceProvider(app, project, sp.client);
    await other.signIn(user);
    expect((await other.browser.get(`${sp.issuer}/saml/resume?flow=${flow}`)).status).toBe(400);
  });

  it('makes the application a participant of the session, and is one event of the audit log', async () => {
    const sessionId = await sp.signIn(user);
    await sp.answerOf(await sp.ask());
    const found = await rows(app.services.db, `select client_id from participations where session_id = '${sessionId}'`);
    expect(found).toEqual([{ client_id: sp.client.id }]);
    const events = await rows(
      app.services.db,
      `select type from audit_log where client_id = '${sp.client.id}' and type = 'token.issued'`,
    );
    expect(events).toHaveLength(1);
  });

  it('has the NameID that is asked for, else the one that is set', async () => {
    await sp.signIn(user);
    await set({ samlNameId: 'email' });
    const plain = await sp.answerOf(await sp.ask({ nameIdFormat: nameIdFormats.unspecified }));
    expect(plain.subject).toEqual({ format: nameIdFormats.email, value: user.email });
    const persistent = await sp.answerOf(await sp.ask({ nameIdFormat: nameIdFormats.persistent }));
    expect(persistent.subject.value).toBe(user.id);
    const transient = await sp.answerOf(await sp.ask({ nameIdFormat: nameIdFormats.transient }));
    expect(transient.subject.format).toBe(nameIdFormats.transient);
    expect(transient.subject.value).not.toContain(user.id);
    const kerberos = await sp.ask({ nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos' });
    expect(await sp.statusOf(kerberos)).toBe('InvalidNameIDPolicy');
    const nameless = await app.make.user(project, { email: null, emailKey: null });
    sp.browser.cookies.clear();
    await sp.signIn(nameless);
    expect(await sp.statusOf(await sp.ask())).toBe('InvalidNameIDPolicy');
  });

  it('has a pairwise NameID, which another application cannot compute, also where persistent is asked for', async () => {
    await sp.signIn(user);
    await set({ samlNameId: 'pairwise' });
    const nameIdFormat = nameIdFormats.persistent;
    const own = await sp.answerOf(await sp.ask({ nameIdFormat }));
    expect(own.subject.format).toBe(nameIdFormats.persistent);
    expect(own.subject.value).not.toContain(user.id);
    expect((await sp.answerOf(await sp.ask())).subject).toEqual(own.subject);
    const other = await ServiceProvider.at(app, project, { samlEntityId: 'https://b.example', samlNameId: 'pairwise' });
    other.browser = sp.browser;
    const there = await other.answerOf(await other.ask());
    expect(there.subject.value).not.toBe(own.subject.value);
    // Kept while another kind is set.
    await set({ samlNameId: 'email' });
    await set({ samlNameId: 'pairwise' });
    expect((await sp.answerOf(await sp.ask())).subject).toEqual(own.subject);
  });

  it('has a claim as NameID, or none for a user without it', async () => {
    await sp.signIn(user);
    await set({ samlNameId: 'attribute', samlNameIdAttribute: 'preferred_username' });
    expect((await sp.answerOf(await sp.ask())).subject).toEqual({
      format: nameIdFormats.unspecified,
      value: user.userName,
    });
    await set({ samlNameIdAttribute: 'employee_number' });
    expect(await sp.statusOf(await sp.ask())).toBe('InvalidNameIDPolicy');
    await expect(set({ samlNameIdAttribute: null })).rejects.toMatchObject({
      problem: { code: 'invalid', field: 'samlNameIdAttribute' },
    });
  });

  it('is signed and encrypted as the application is set', async () => {
    await sp.signIn(user);
    const xmlOf = async () => Buffer.from((await formOf(await sp.ask())).response, 'base64').toString();
    const signatures = (xml: string) => xml.match(/<ds:Signature /g)?.length ?? 0;
    expect(signatures(await xmlOf())).toBe(2);
    await set({ samlSigned: 'response' });
    expect(signatures(await xmlOf())).toBe(1);
    await set({ samlSigned: 'both', samlEncryptionCertificate: pemOf(sp.key.certificate) });
    const xml = await xmlOf();
    expect(xml).not.toContain('<saml:Assertion');
    const opens = { decrypt: (one: Parameters<typeof decrypt>[0]) => decrypt(one, { key: sp.key.privateKey }) };
    expect(readAnswer(read(xml), await sp.expected(opens)).subject.value).toBe(user.id);
  });

  it('with ForceAuthn needs a proof after the request', async () => {
    await sp.signIn(user);
    const to = locationOf(await sp.ask({ forceAuthn: true }));
    expect(to.pathname).toBe('/signin');
    const flow = to.searchParams.get('flow') ?? '';
    expect(locationOf(await sp.browser.get(`${sp.issuer}/saml/resume?flow=${flow}`)).pathname).toBe('/signin');
  });

  it('with IsPassive is answered without a page', async () => {
    const passive = (xml: string) => xml.replace('ForceAuthn="false"', 'IsPassive="true"');
    expect(await sp.statusOf(await sp.ask({ edit: passive }))).toBe('NoPassive');
    await sp.signIn(user);
    expect((await sp.answerOf(await sp.ask({ edit: passive }))).subject.value).toBe(user.id);
  });

  it('states the requested context class, and refuses what it cannot meet', async () => {
    const asking =
      (...classes: string[]) =>
      (xml: string) =>
        xml.replace(
          '</samlp:AuthnRequest>',
          `<samlp:RequestedAuthnContext>${classes.map((one) => `<saml:AuthnContextClassRef>${one}</saml:AuthnContextClassRef>`).join('')}</samlp:RequestedAuthnContext></samlp:AuthnRequest>`,
        );
    const password = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
    const mfa = 'https://refeds.org/profile/mfa';
    await sp.signIn(user);
    expect((await sp.answerOf(await sp.ask({ edit: asking(password) }))).contextClass).toBe(password);
    expect(await sp.statusOf(await sp.ask({ edit: asking('urn:x:smartcard') }))).toBe('NoAuthnContext');
    // A device key is no passkey with PIN: another sign-in is needed.
    expect(locationOf(await sp.ask({ edit: asking(mfa) })).pathname).toBe('/signin');
    sp.browser.cookies.clear();
    await sp.signIn(user, ['pop', 'mfa', 'user']);
    expect((await sp.answerOf(await sp.ask({ edit: asking(mfa) }))).contextClass).toBe(mfa);
    expect((await sp.answerOf(await sp.ask())).contextClass).toBe(mfa);
  });
});

describe('access', () => {
  it('of a user whom no rule names: a page, and a status for the application when the user leaves', async () => {
    await set({ access: 'assigned' });
    await sp.signIn(user);
    const resumed = locationOf(await sp.ask());
    expect(resumed.pathname).toMatch(/\/saml\/resume$/);
    const page = await sp.browser.get(resumed.href, { accept: 'text/html' });
    expect(page.status).toBe(403);
    expect(await page.text()).toContain('leave=1');
    expect(await sp.statusOf(await sp.browser.get(`${resumed.href}&leave=1`))).toBe('RequestDenied');
    const passive = (xml: string) => xml.replace('ForceAuthn="false"', 'IsPassive="true"');
    expect(await sp.statusOf(await sp.ask({ edit: passive }))).toBe('RequestDenied');
  });

  it('of a deactivated user: none', async () => {
    await sp.signIn(user);
    await app.services.db.transaction(async (em) => {
      await em
        .getConnection()
        .execute(`update users set active = false where id = '${user.id}'`, [], 'run', em.getTransactionContext());
    });
    expect(locationOf(await sp.ask()).pathname).toBe('/signin');
  });
});

describe('organizations', () => {
  it('a user of several chooses, on the page that applications of OpenID Connect have, too', async () => {
    await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
    const places = new Places(app, project);
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    await sp.signIn(user);
    const passive = (xml: string) => xml.replace('ForceAuthn="false"', 'IsPassive="true"');
    expect(await sp.statusOf(await sp.ask({ edit: passive }))).toBe('NoPassive');
    const chooser = await sp.browser.get(locationOf(await sp.ask()).href);
    const html = await chooser.text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
    const action = new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', app.url).href;
    const form = { flow: field('flow'), csrf: field('csrf'), organization: south.id };
    const resumed = await sp.browser.get(locationOf(await sp.browser.post(action, form)).href);
    const page = await sp.browser.get(locationOf(resumed).href);
    expect((await sp.answerOf(page)).subject.value).toBe(user.id);
  });
});

describe('refused', () => {
  const page = async (response: Response) => {
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
    const html = await response.text();
    expect(html).not.toContain('SAMLResponse');
    return html;
  };
  const raw = (xml: string) =>
    sp.browser.get(
      `${sp.issuer}/saml/sso?${new URLSearchParams({ SAMLRequest: deflateRawSync(xml).toString('base64') })}`,
    );

  beforeEach(async () => {
    await sp.signIn(user);
  });

  it.each([
    ['a DTD', (xml: string) => `<!DOCTYPE x [<!ENTITY a "b">]>${xml}`],
    ['another message', (xml: string) => xml.replaceAll('AuthnRequest', 'ArtifactResolve')],
    ['a Subject', (xml: string) => xml.replace('</samlp:AuthnRequest>', '<saml:Subject/></samlp:AuthnRequest>')],
    [
      'a Destination of another party',
      (xml: string) => xml.replace(/Destination="[^"]*"/, 'Destination="https://x.example"'),
    ],
    ['an unknown entity ID', (xml: string) => xml.replace(spEntityId, `${spEntityId}x`)],
    ['a foreign ACS', (xml: string) => xml.replace(acsUrl, 'https://evil.example/acs')],
    ['an ACS that begins like the registered one', (xml: string) => xml.replace(acsUrl, `${acsUrl}/x`)],
    ['no XML', () => 'x'],
  ])('%s: a page, without a redirect', async (_, edit) => {
    await page(await raw(edit(sp.request())));
  });

  it('10 MB that deflate to little', async () => {
    await page(await raw(`<a>${'a'.repeat(10_000_000)}</a>`));
  });

  it('no message, two messages, another content type, a long RelayState', async () => {
    await page(await sp.browser.get(`${sp.issuer}/saml/sso`));
    await page(await sp.browser.get(`${sp.address()}&SAMLRequest=x`));
    const sent = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    await page(await sp.browser.send(`${sp.issuer}/saml/sso`, sent));
    await page(await sp.ask({ relayState: 'a'.repeat(81) }));
  });

  it('a RelayState with markup stays text', async () => {
    const html = await (await sp.ask({ relayState: '"><script>alert(1)</script>' })).text();
    expect(html).not.toContain('<script>alert');
  });

  it('an unsigned request, a wrong key and a changed request, where signatures are demanded', async () => {
    await set({ samlRequestsSigned: true });
    await page(await sp.ask());
    expect((await sp.answerOf(await sp.browser.get(await sp.signedAddress()))).subject.value).toBe(user.id);
    const address = await sp.signedAddress({ relayState: 'a' });
    await page(await sp.browser.get(address.replace('RelayState=a', 'RelayState=b')));
    await page(await sp.browser.get(address.replace(/&Signature=.*/, '')));
    const post = async (key: typeof sp.key) =>
      sp.browser.post(`${sp.issuer}/saml/sso`, {
        SAMLRequest: Buffer.from((await signed({ xml: sp.request() }, key)).xml).toString('base64'),
      });
    expect((await sp.answerOf(await post(sp.key))).subject.value).toBe(user.id);
    await page(await post(rsaKey()));
  });

  it('a wrong signature is refused even where none is demanded', async () => {
    const address = await sp.signedAddress({ relayState: 'a' });
    await page(await sp.browser.get(address.replace('RelayState=a', 'RelayState=b')));
  });

  it('a request that was answered before, also by another process', async () => {
    const address = sp.address();
    expect((await sp.answerOf(await sp.browser.get(address))).subject.value).toBe(user.id);
    expect(await sp.statusOf(await sp.browser.get(address))).toBe('RequestDenied');
    const sibling = await buildSibling(app);
    try {
      const there = address.replace(app.url, sibling.url);
      expect((await sp.browser.get(there)).status).not.toBe(303);
    } finally {
      await sibling.close();
    }
  });

  it('of 20 at once, one answer', async () => {
    const address = sp.address();
    const pages = await Promise.all(Array.from({ length: 20 }, () => sp.browser.get(address)));
    const statuses = await Promise.all(pages.map((one) => sp.statusOf(one)));
    expect(statuses.filter((one) => one === 'Success')).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set(['Success', 'RequestDenied']));
  });

  it('a request that is too old, or from the future: a status', async () => {
    const at = (seconds: number) => new Date(app.clock.now().getTime() + seconds * 1000);
    expect(await sp.statusOf(await sp.ask({ at: at(-361) }))).toBe('RequestDenied');
    expect(await sp.statusOf(await sp.ask({ at: at(61) }))).toBe('RequestDenied');
    expect(await sp.statusOf(await sp.ask({ at: at(-350) }))).toBe('Success');
  });

  it('the application of another project, and that of this one at another issuer', async () => {
    const other = await app.make.project();
    const there = sp.address().replace(sp.issuer, `${app.url}/p/${other.slug}`);
    await page(await sp.browser.get(there));
    // The base issuer is none.
    expect((await sp.browser.get(sp.address().replace(sp.issuer, app.url))).status).toBe(404);
    expect((await sp.browser.get(`${app.url}/saml/metadata`)).status).toBe(404);
  });

  it('a disabled application', async () => {
    await set({ disabled: true });
    await page(await sp.ask());
  });

  it('is recorded, without the message', async () => {
    await page(await raw(sp.request().replace(acsUrl, 'https://evil.example/acs')));
    const events = await rows(
      app.services.db,
      `select detail from audit_log where type = 'authorization.refused' and client_id = '${sp.client.id}'`,
    );
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events)).toContain('redirect-uri');
  });

  it('is recorded in the project, once however many destinations are tried', async () => {
    for (const at of [1, 2]) await page(await sp.ask({ destination: `https://${at}.example` }));
    await page(await sp.browser.get((await sp.signedAddress()).replace('Signature=', 'Signature=AAAA')));
    const events = await rows<{ description: string; client_id: string }>(
      app.services.db,
      `select detail->>'description' as description, client_id from audit_log
        where project_id = ? and type = 'authorization.refused' order by description`,
      [sp.project.id],
    );
    expect(events).toEqual([
      { description: 'destination-mismatch: Destination', client_id: sp.client.id },
      { description: 'signature-invalid: Signature', client_id: sp.client.id },
    ]);
  });
});

describe('OpenID Connect', () => {
  it('does not know the application: no code and no token', async () => {
    await sp.signIn(user);
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: sp.client.id, redirect_uri: acsUrl, scope: 'openid' },
      ...{ code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    });
    for (const issuer of [sp.issuer, app.url]) {
      expect((await sp.browser.get(`${issuer}/authorize?${query}`)).status).toBe(400);
      const form = { grant_type: 'authorization_code', code: 'x', client_id: sp.client.id, redirect_uri: acsUrl };
      expect((await sp.browser.post(`${issuer}/oauth2/token`, form)).status).toBe(401);
    }
  });
});

describe('IdP-initiated', () => {
  const start = () => sp.browser.get(`${sp.issuer}/saml/start/${sp.client.id}`);

  it('is off until the application allows it', async () => {
    await sp.signIn(user);
    expect((await start()).status).toBe(400);
    await set({ samlIdpInitiated: true });
    const answer = await sp.answerOf(await start(), { requestId: null });
    expect(answer.subject.value).toBe(user.id);
  });

  it('asks for a sign-in first', async () => {
    await set({ samlIdpInitiated: true });
    const to = locationOf(await start());
    await sp.signIn(user);
    const page = await sp.browser.get(`${sp.issuer}/saml/resume?flow=${to.searchParams.get('flow')}`);
    expect((await sp.answerOf(page, { requestId: null })).subject.value).toBe(user.id);
  });

  it('takes nothing from its address, and cannot be framed: another site can begin a sign-in, and not direct it', async () => {
    await set({ samlIdpInitiated: true, redirectUris: [acsUrl, `${acsUrl}/2`] });
    await sp.signIn(user);
    const evil = new URLSearchParams({
      ...{ RelayState: 'https://evil.example', AssertionConsumerServiceURL: `${acsUrl}/2` },
      ...{ AssertionConsumerServiceIndex: '1', SAMLRequest: 'x' },
    });
    const page = await sp.browser.get(`${sp.issuer}/saml/start/${sp.client.id}?${evil}`);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(await formOf(page)).toMatchObject({ action: acsUrl, relayState: undefined });
    // A form of another site cannot begin one.
    expect((await sp.browser.post(`${sp.issuer}/saml/start/${sp.client.id}`, {})).status).toBe(405);
  });

  it('of an application of another project, and of one of OpenID Connect, is refused', async () => {
    const other = await app.make.project();
    const foreign = await ServiceProvider.at(app, other, { samlIdpInitiated: true });
    const { client } = await app.make.client(project);
    for (const id of [foreign.client.id, client.id, 'x']) {
      expect((await sp.browser.get(`${sp.issuer}/saml/start/${id}`)).status).toBe(400);
    }
  });
});

describe('keys', () => {
  it('each project has its own, and a successor is published before it signs', async () => {
    const [first = ''] = (await sp.metadata()).signingCertificates;
    const other = await ServiceProvider.at(app, await app.make.project());
    expect((await other.metadata()).signingCertificates).not.toContain(first);
    expect((await sp.metadata()).signingCertificates).toEqual([first]);
    const { samlKeys } = app.services;
    await samlKeys.rotate(project.id, system);
    // Again changes nothing.
    await samlKeys.rotate(project.id, system);
    const [signing, next = ''] = (await sp.metadata()).signingCertificates;
    expect(signing).toBe(first);
    expect((await sp.metadata()).signingCertificates).toHaveLength(2);
    app.clock.turn(31 * 24 * 3600);
    expect((await sp.metadata()).signingCertificates).toEqual([next, first]);
    await sp.signIn(user);
    expect((await sp.answerOf(await sp.ask())).subject.value).toBe(user.id);
    app.clock.turn(31 * 24 * 3600);
    expect((await sp.metadata()).signingCertificates).toEqual([next]);
  });

  it('ten first requests at once create one', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => sp.metadata()));
    expect(new Set(all.flatMap(({ signingCertificates }) => signingCertificates)).size).toBe(1);
  });
});
