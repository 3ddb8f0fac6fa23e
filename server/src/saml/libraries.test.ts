import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { SAML, samlify } from '../../test/saml-libraries.mjs';
import { acsUrl, formOf, ServiceProvider, sloUrl, spEntityId } from '../../test/saml-sp.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { nameIdFormats } from '../domain/saml/names.ts';
import { pemOf } from '../domain/saml/security/certificate.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let sp: ServiceProvider;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
/** The libraries read the time of the machine. */
const toNow = () => app.clock.turn(Math.floor((Date.now() - app.clock.now().getTime()) / 1000));

beforeEach(async () => {
  toNow();
  project = await app.make.project();
  user = await app.make.user(project);
  sp = await ServiceProvider.at(app, project, { samlLogoutUri: sloUrl });
  await sp.signIn(user);
});

const metadataText = async () => (await fetch(`${sp.issuer}/saml/metadata`)).text();

describe('@node-saml/node-saml as service provider, with its defaults', () => {
  async function provider(more: Record<string, unknown> = {}) {
    const { entityId, ssoUrl, sloUrl: logoutUrl, signingCertificates } = await sp.metadata();
    return new SAML({
      ...{ callbackUrl: acsUrl, issuer: spEntityId, entryPoint: ssoUrl, logoutUrl },
      ...{ idpIssuer: entityId, idpCert: signingCertificates[0], ...more },
    });
  }

  async function signedIn(saml: SAML) {
    toNow();
    const page = await sp.browser.get(await saml.getAuthorizeUrlAsync('state', undefined, {}));
    const { response, relayState } = await formOf(page);
    expect(relayState).toBe('state');
    return saml.validatePostResponseAsync({ SAMLResponse: response });
  }

  it('signs in, unsigned, and gets the e-mail that it asks for by default', async () => {
    const { profile } = await signedIn(await provider());
    expect(profile).toMatchObject({ nameID: user.email, email: user.email });
  });

  it('signs in with signed requests and encrypted assertions, and logs out', async () => {
    const { client } = sp;
    const { services } = app;
    const encrypted = { samlRequestsSigned: true, samlEncryptionCertificate: pemOf(sp.key.certificate) };
    await services.clients.update({ project, id: client.id }, encrypted, { kind: 'system' });
    const keys = { privateKey: sp.key.pkcs8, decryptionPvk: sp.key.pkcs8, signatureAlgorithm: 'sha256' };
    const saml = await provider({ ...keys, identifierFormat: null });
    const { profile } = await signedIn(saml);
    expect(profile?.nameID).toBe(user.id);
    if (!profile) throw new Error('no profile');
    toNow();
    const back = locationOf(await sp.browser.get(await saml.getLogoutUrlAsync(profile, 'bye', {})));
    expect(back.href.startsWith(sloUrl)).toBe(true);
    expect(back.searchParams.get('RelayState')).toBe('bye');
    const query = Object.fromEntries(back.searchParams);
    expect(await saml.validateRedirectAsync(query, back.search.slice(1))).toMatchObject({ loggedOut: true });
    // The session has ended.
    expect(locationOf(await sp.browser.get(await sp.signedAddress())).pathname).toBe('/signin');
  });

  it('is logged out by another application, and confirms it', async () => {
    const saml = await provider({ privateKey: sp.key.pkcs8, signatureAlgorithm: 'sha256' });
    const { profile } = await signedIn(saml);
    const { url, next } = await logoutElsewhere();
    const asked = await saml.validateRedirectAsync(Object.fromEntries(url.searchParams), url.search.slice(1));
    expect(asked).toMatchObject({ loggedOut: true, profile: { nameID: profile?.nameID } });
    if (!asked.profile) throw new Error('no profile');
    toNow();
    expect(
      (await sp.browser.get(await saml.getLogoutResponseUrlAsync(asked.profile, undefined, {}, true))).status,
    ).toBe(200);
    expect((await sp.browser.get(next)).headers.get('location')).toBe(postLogoutRedirectUri);
  });
});

/** A logout by an application of OpenID Connect: the request to ours, and the address after all answers. */
async function logoutElsewhere(): Promise<{ url: URL; next: string }> {
  const party = partyAt(app, project, (await app.make.client(project)).client);
  for (const [name, value] of sp.browser.cookies) party.browser.cookies.set(name, value);
  const { id_token: hint } = await party.tokens();
  const fields = { id_token_hint: hint, post_logout_redirect_uri: postLogoutRedirectUri, logout_scope: 'session' };
  const html = (await (await party.endSession(fields)).text()).replaceAll('&amp;', '&');
  const found = (pattern: RegExp) => pattern.exec(html)?.[1] ?? '';
  return { url: new URL(found(/<iframe [^>]*src="([^"]+)"/)), next: found(/id="next" href="([^"]+)"/) };
}

describe('samlify as service provider', () => {
  it('signs in by our metadata, as it is', async () => {
    const idp = samlify.IdentityProvider({ metadata: await metadataText() });
    const provider = samlify.ServiceProvider({
      entityID: spEntityId,
      assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: acsUrl }],
      wantAssertionsSigned: true,
    });
    const { id, context } = provider.createLoginRequest(idp, 'redirect');
    toNow();
    const { response } = await formOf(await sp.browser.get(context));
    const { extract } = await provider.parseLoginResponse(idp, 'post', { body: { SAMLResponse: response } });
    expect(extract).toMatchObject({ nameID: user.email, response: { inResponseTo: id }, audience: spEntityId });
  });

  /** With a key for its logout messages, which must be signed. */
  async function withLogout() {
    const idp = samlify.IdentityProvider({
      metadata: await metadataText(),
      ...{ wantLogoutRequestSigned: true, wantLogoutResponseSigned: true },
    });
    const { redirect } = samlify.Constants.namespace.binding;
    const provider = samlify.ServiceProvider({
      ...{ entityID: spEntityId, privateKey: sp.key.pkcs8, nameIDFormat: [nameIdFormats.persistent] },
      singleLogoutService: [{ Binding: redirect, Location: sloUrl }],
      ...{ wantLogoutRequestSigned: true, wantLogoutResponseSigned: true },
    });
    toNow();
    const answer = await sp.answerOf(await sp.ask({ nameIdFormat: nameIdFormats.persistent }));
    return { idp, provider, answer };
  }

  /** As samlify documents it: the query without the signature. */
  const received = (url: URL) => ({
    query: Object.fromEntries(url.searchParams),
    octetString: url.search.slice(1).replace(/&Signature=.*/, ''),
  });

  it('logs out', async () => {
    const { idp, provider, answer } = await withLogout();
    const { subject, sessionIndex } = answer;
    const { context, id } = provider.createLogoutRequest(idp, 'redirect', {
      logoutNameID: subject.value,
      sessionIndex,
    });
    const back = locationOf(await sp.browser.get(context));
    const { extract } = await provider.parseLogoutResponse(idp, 'redirect', received(back));
    expect(extract).toMatchObject({ response: { inResponseTo: id } });
    expect(locationOf(await sp.ask()).pathname).toBe('/signin');
  });

  it('is logged out by another application, and confirms it', async () => {
    const { idp, provider, answer } = await withLogout();
    const { url, next } = await logoutElsewhere();
    const request = await provider.parseLogoutRequest(idp, 'redirect', received(url));
    expect(request.extract).toMatchObject({ nameID: answer.subject.value, sessionIndex: answer.sessionIndex });
    toNow();
    expect((await sp.browser.get(provider.createLogoutResponse(idp, request, 'redirect').context)).status).toBe(200);
    expect((await sp.browser.get(next)).headers.get('location')).toBe(postLogoutRedirectUri);
  });
});
