import { Person } from '../../chaos/support/person.ts';
import type { AdminApi } from '../../support/admin-api.ts';
import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { Browser } from '../browser.ts';
import type { Row } from '../runtimes/tried.ts';
import { samlProviders } from './service-providers.ts';
import type { SamlProvider } from './set-up.ts';

/** Signs in, reads claims and logs out from both sides, with SAML service providers at their documented defaults. */
export async function* trySaml(latchkey: Pick<Latchkey, 'baseUrl'>, admin: AdminApi, projectId: string, only?: string) {
  for (const provider of samlProviders.filter(({ name }) => only === undefined || name.includes(only))) {
    const lacks = provider.lacks();
    if (lacks === null) {
      const outcome = await tried(latchkey, admin, projectId, provider).catch((error: unknown) => String(error));
      const done = `signed in, read claims, logged out, was logged out by ${typeof outcome === 'string' ? '' : outcome.by}`;
      yield (
        typeof outcome === 'string' ? [provider.name, 'fail', outcome] : [provider.name, 'pass', done]
      ) satisfies Row;
    } else {
      yield [provider.name, 'skipped', lacks] satisfies Row;
    }
  }
}

/** The failure, or how it was logged out. */
async function tried(
  latchkey: Pick<Latchkey, 'baseUrl'>,
  admin: AdminApi,
  projectId: string,
  provider: SamlProvider,
): Promise<string | { by: string }> {
  const issuer = await admin.issuerOf(projectId);
  const port = String(await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const idp = `${issuer}/saml/metadata`;
  const idpMetadata = await (await fetch(idp)).text();
  const { process: running, clear } = provider.start({ port, origin, idpMetadata, idp });
  let output = '';
  for (const stream of [running.stdout, running.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  try {
    const browser = new Browser();
    if (!(await browser.isReachable(`${origin}/`, () => running.exitCode !== null)))
      return `it did not start: ${output.slice(-300)}`;
    const metadata = await (await fetch(origin + provider.metadata)).text();
    const { hasBackChannel } = await createApplication(admin, projectId, provider.name, metadata);

    const redirectUri = 'https://app.example.com/callback';
    const own = await admin.createClient({ projectId, name: 'Own', redirectUris: [redirectUri] });
    const email = `${own.clientId}@example.com`;
    const person = new Person({ issuer: latchkey.baseUrl, projectId, redirectUri, ...own }, email);
    const signIn = async () => {
      await person.signInHosted();
      browser.take(latchkey.baseUrl, person.cookies);
      return browser.open(origin + provider.login);
    };
    const isSignedIn = async () => (await browser.open(origin + provider.login)).includes(email);

    const page = await signIn();
    if (!page.includes(email)) return `no claims: ${page.slice(-300)} ${output.slice(-300)}`;
    await browser.open(origin + provider.logout);
    const { origin: host, pathname } = new URL(browser.address);
    if (host + pathname !== origin + provider.end) return `its logout ended at ${browser.address}`;
    if (await browser.hasSession(issuer, own.clientId, redirectUri)) return 'the session did not end';
    if (await isSignedIn()) return 'still signed in after its logout';

    if (!(await signIn()).includes(email)) return 'no second sign-in';
    const query = new URLSearchParams({ client_id: own.clientId, id_token_hint: person.idToken });
    if (hasBackChannel) {
      await browser.open(`${latchkey.baseUrl}/oauth2/end_session?${query}`);
      if (!(await browser.losesSession(origin + provider.login)))
        return 'a logout request over SOAP did not end its session';
      if (!(await signIn()).includes(email)) return 'no third sign-in';
      await admin.run('mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done } }', {
        input: { projectId, action: 'END_SESSIONS', userIds: [person.sub] },
      });
      if (!(await browser.losesSession(origin + provider.login))) return 'an admin did not end its session';
      return { by: 'another application and by an admin, over SOAP' };
    }
    const waiting = (await browser.open(`${latchkey.baseUrl}/oauth2/end_session?${query}`)).replaceAll('&amp;', '&');
    const frames = [...waiting.matchAll(/<iframe [^>]*src="([^"]+)"/g)].map(([, src = '']) => src);
    if (frames.length === 0) return `the logout did not ask it: ${waiting.slice(0, 300)}`;
    for (const frame of frames) await browser.open(frame);
    const end = await browser.open(/id="next" href="([^"]+)"/.exec(waiting)?.[1] ?? '');
    if (end.includes('id="unconfirmed"')) return 'it did not confirm the logout';
    return (await isSignedIn())
      ? 'still signed in after the logout of another application'
      : { by: 'another application, in a frame' };
  } catch (error) {
    return `${String(error)} ${output.slice(-600)}`;
  } finally {
    running.kill();
    clear();
  }
}

async function createApplication(admin: AdminApi, projectId: string, name: string, metadata: string) {
  const query = `query ($projectId: ID!, $metadata: String!) { samlServiceProvider(projectId: $projectId, metadata: $metadata) {
    samlEntityId redirectUris samlCertificates samlEncryptionCertificate samlRequestsSigned samlLogoutUri samlLogoutResponseUri samlLogoutSoapUri } }`;
  type Read = { samlServiceProvider: Record<string, unknown> };
  const { samlServiceProvider } = await admin.run<Read>(query, { projectId, metadata });
  await admin.createClient({ projectId, name, ...samlServiceProvider });
  return { hasBackChannel: samlServiceProvider['samlLogoutSoapUri'] != null };
}
