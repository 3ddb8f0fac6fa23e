import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { SAML, samlify } from '../../test/saml-libraries.mjs';
import { acsUrl, formOf, ServiceProvider, sloUrl, spEntityId } from '../../test/saml-sp.ts';
import type { Project } from '../domain/projects/project.entity.ts';
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
});

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
});
