/** The moves of 10,000 people from Keycloak and from Auth0; their files are made here, in the shapes that both document. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cbor, SoftAuthenticator } from '../../../test/authenticator.ts';
import { HostedBrowser } from '../../../test/hosted-browser.ts';
import { basic, type Machine } from '../../../test/machine.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import { type Ran, shell, testMasterKey } from '../../../test/shell.ts';
import { claimsOf, expectStatus, SigninWorld } from '../../../test/signin-world.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { projectIssuerUrl } from '../../domain/projects/issuer.ts';
import { User } from '../../domain/users/user.entity.ts';

const people = 10_000;
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const world = SigninWorld.ofTests();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(file: string, ...args: string[]): Promise<Ran> {
  const { databaseUrl, url } = world.app;
  const settings = { DATABASE_URL: databaseUrl, MASTER_KEY: testMasterKey, BASE_URL: url };
  return shell(settings, 'import-users', file, '--project', world.project.id, ...args);
}

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const found = async (subject: string) => {
  return world.app.services.db.reader().findOneOrFail(User, { project: world.project.id, subject });
};
const count = () => world.app.services.db.reader().count(User, { project: world.project.id });

/** A passkey that the person registered at the former system, under the same host name. */
function passkeyOf(authenticator: SoftAuthenticator, id: string) {
  const options = {
    challenge: 'AAAA',
    rp: { id: new URL(world.app.url).hostname, name: 'Former' },
    user: { id: Buffer.from(id).toString('base64url'), name: 'ada', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key' as const, alg: -7 }],
  };
  authenticator.create(options, { origin: world.app.url, flags: { BE: true, BS: true } });
  const [credential = expect.fail()] = authenticator.credentials;
  return {
    type: 'webauthn-passwordless',
    credentialData: JSON.stringify({
      aaguid: '00000000-0000-0000-0000-000000000000',
      credentialId: Buffer.from(credential.id, 'base64url').toString('base64'),
      counter: 0,
      credentialPublicKey: cbor(credential.publicKey).toString('base64url'),
      attestationStatementFormat: 'none',
      transports: ['INTERNAL'],
    }),
    secretData: '{}',
  };
}

const idOf = (n: number) => `7d0c9c2e-0000-4000-8000-${String(n).padStart(12, '0')}`;

function realm(authenticator: SoftAuthenticator): string {
  const otp = {
    type: 'otp',
    secretData: JSON.stringify({ value: 'former-secret-of-20!' }),
    credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
  };
  const users = Array.from({ length: people }, (_, n) => ({
    id: idOf(n),
    username: `user-${n}`,
    email: `user-${n}@example.com`,
    emailVerified: n !== 3,
    enabled: n !== 4,
    firstName: 'Ada "{[',
    lastName: `No. ${n}`,
    attributes: { locale: ['de'], phoneNumber: [`+4179${1_000_000 + n}`], phoneNumberVerified: ['true'] },
    credentials: [
      { type: 'password', secretData: '{"value":"x"}', credentialData: '{}' },
      ...(n === 0 ? [passkeyOf(authenticator, idOf(n))] : []),
      ...(n === 1 ? [otp] : []),
    ],
    realmRoles: ['default-roles-acme', 'staff'],
    clientRoles: { web: ['editor'], account: ['view-profile'] },
    groups: ['/engines/builders'],
  }));
  const clients = [
    { clientId: 'account', redirectUris: ['/realms/acme/account/*'], publicClient: true, protocol: 'openid-connect' },
    {
      ...{
        clientId: 'web',
        name: 'Web shop',
        redirectUris: ['https://shop.example.com/callback', 'https://shop.example.com/*'],
      },
      ...{ publicClient: false, standardFlowEnabled: true, serviceAccountsEnabled: true, protocol: 'openid-connect' },
      attributes: { 'post.logout.redirect.uris': 'https://shop.example.com/bye' },
    },
  ];
  const roles = {
    realm: [{ name: 'staff' }],
    client: { web: [{ name: 'editor' }], account: [{ name: 'view-profile' }] },
  };
  return JSON.stringify({ id: 'acme', realm: 'acme', enabled: true, roles, users, clients }, null, 1);
}

/** `sub` of every artefact that an application receives about a signed-in user. */
async function subsOf(user: User): Promise<unknown[]> {
  const uri = `https://app.example.com/${user.id}`;
  const { client, clientSecret } = await world.app.make.client(world.project, {
    ...{ tokenEndpointAuthMethod: 'client_secret_basic' as const, idTokenSignedResponseAlg: 'ES512' as const },
    backchannelLogoutUri: uri,
  });
  const issuer = projectIssuerUrl(world.app.url, world.project.slug);
  const web: Machine = { app: world.app, client, secret: clientSecret ?? '', issuer };
  const party = partyAt(world.app, world.project, client);
  await party.signIn(user);
  const answer = await party.exchange(await party.code(), {}, basic(web));
  const { access_token, id_token } = (await answer.json()) as { access_token: string; id_token: string };
  const userInfo = (await (await party.userInfo(access_token)).json()) as { sub: string };
  const body = new URLSearchParams({ token: access_token });
  const introspected = await fetch(`${issuer}/oauth2/introspect`, { method: 'POST', headers: basic(web), body });
  await world.app.services.logout.endAllOfUser(user, system);
  await world.app.runJobs();
  const notices = world.app.logoutTokens.filter((one) => one.uri === uri).map(({ token }) => decodeJwt(token).sub);
  const { sub } = (await introspected.json()) as { sub: string };
  return [decodeJwt(id_token).sub, decodeJwt(access_token).sub, userInfo.sub, sub, ...notices];
}

/** Signs in by a mail code, and by the factor if the user has one; returns `sub` of the ID token. */
async function subAfterMail(userid: string, totp?: string): Promise<unknown> {
  const page = await world.page();
  if (totp === undefined) {
    const { code } = expectStatus(await world.register(page, userid), 'SUCCESS');
    return claimsOf((await world.exchange(code)).body['id_token'])['sub'];
  }
  await world.verifyAddress(page, userid);
  expectStatus(await page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
  const { session_id } = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  await page.step('initiate-mfa', { userid, session_id }, 'use');
  const { code } = expectStatus(await page.step('verify-mfa', { userid, otp: world.totp(totp) }, 'use'), 'SUCCESS');
  return claimsOf((await world.exchange(code)).body['id_token'])['sub'];
}

describe('import-users --from keycloak', () => {
  it('moves a realm: one person signs in by passkey, one by authenticator app, one by mail, with the same sub', async () => {
    const authenticator = new SoftAuthenticator();
    const file = write('realm.json', realm(authenticator));
    const dry = await run(file, '--from', 'keycloak', '--clients', file, '--dry-run');
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('Nothing was written')]);
    expect(await count()).toBe(0);
    const ran = await run(file, '--from', 'keycloak', '--clients', file);
    expect(ran.out).toContain(`${people} users read: ${people - 1} added, 0 exist, 1 not added.`);
    expect(ran.out).toContain('1 passkeys and 1 authenticator apps taken.');
    expect(ran.out).toContain(`Not taken, ${people - 1}: password: not taken`);
    expect(ran.err).toMatch(/realm\.json:\d+ .*000000000003: not added: the address was not verified/);
    expect(ran.err).toContain('https://shop.example.com/*');
    expect(await count()).toBe(people - 1);
    expect((await run(file, '--from', 'keycloak', '--clients', file)).out).toContain(`0 added, ${people - 1} exist`);

    const client = await world.app.services.db
      .reader()
      .findOneOrFail(Client, { project: world.project.id, name: 'Web shop' });
    expect(client).toMatchObject({
      ...{
        redirectUris: ['https://shop.example.com/callback'],
        postLogoutRedirectUris: ['https://shop.example.com/bye'],
      },
      ...{
        tokenEndpointAuthMethod: 'client_secret_basic',
        grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
    });
    const [ada, grace, eve, off] = await Promise.all([0, 1, 2, 4].map((n) => found(idOf(n))));
    expect([ada?.givenName, ada?.phone, off?.active]).toEqual(['Ada "{[', '+41791000000', false]);
    const of = { client, userId: ada?.id as string, scopes: ['openid', 'groups', 'roles'] };
    const draft = { groups: 'all' as const };
    const preview = await world.app.services.claims.preview(world.app.services.db.reader(), of, draft);
    expect(preview.idToken).toMatchObject({ groups: ['engines/builders', 'role:staff'], roles: ['editor'] });

    const hosted = new HostedBrowser(world, authenticator);
    await hosted.open();
    const done = expectStatus(await hosted.usePasskey({ flags: { BE: true, BS: true } }), 'SUCCESS');
    expect((await hosted.claims(done))['sub']).toBe(idOf(0));
    const base32 = 'MZXXE3LFOIWXGZLDOJSXILLPMYWTEMBB';
    expect(await subAfterMail('user-1@example.com', base32)).toBe(idOf(1));
    expect(await subAfterMail('user-2@example.com')).toBe(idOf(2));
    for (const user of [ada, grace, eve]) {
      expect(new Set(await subsOf(user as User))).toEqual(new Set([user?.subject]));
    }
  });
});

describe('import-users --from auth0', () => {
  it('moves an export: one person signs in by authenticator app, one by mail, with the same sub', async () => {
    const users = Array.from({ length: people }, (_, n) => ({
      user_id: n % 2 === 0 ? `auth0|${n}` : `google-oauth2|${n}`,
      email: `user-${n}@example.com`,
      email_verified: true,
      name: `User ${n}`,
      identities: [
        { user_id: `${n}`, provider: 'auth0', connection: 'Username-Password-Authentication', isSocial: false },
      ],
      ...(n === 1 && { mfa_factors: [{ totp: { secret } }] }),
    }));
    const file = write(
      'users.json',
      `${users.map((user) => JSON.stringify(user)).join('\n')}\n{"user_id":"auth0|x"}\n`,
    );
    const clients = write(
      'clients.json',
      JSON.stringify([
        { client_id: 'g', global: true, name: 'All Applications' },
        ...[
          {
            client_id: 'spa',
            name: 'Shop',
            callbacks: ['https://shop.example.com/cb'],
            grant_types: ['authorization_code'],
          },
        ],
      ]),
    );
    const ran = await run(file, '--from', 'auth0', '--clients', clients);
    expect(ran.out).toContain(`${people + 1} users read: ${people} added, 0 exist, 1 not added.`);
    expect(ran.err).toContain(`users.json:${people + 1} auth0|x: not added: has no address and no user name`);
    expect(ran.out).toMatch(/application Shop: spa is [0-9a-f-]{36}/);
    expect(await subAfterMail('user-1@example.com', secret)).toBe('google-oauth2|1');
    expect(await subAfterMail('user-2@example.com')).toBe('auth0|2');
    expect(new Set(await subsOf(await found('auth0|4')))).toEqual(new Set(['auth0|4']));
  });
});

describe('import-users', () => {
  const csv = 'Mail;Id;Name;Groups\n"ada@example.com";u-1;"Ada ""L""; Lovelace";staff;\ngrace@example.com;u-1;;\n';
  const columns = 'Mail=email,Id=subject,Name=display_name,Groups=groups';

  it('reads CSV files with the columns that are named, and refuses a second sub with its line', async () => {
    const ran = await run(write('a.csv', csv), '--from', 'csv', '--columns', columns);
    expect(ran.out).toContain('2 users read: 1 added, 1 exist, 0 not added.');
    expect(await found('u-1')).toMatchObject({ email: 'ada@example.com' });
  });

  it('does not import passkeys and factors of an address that was not verified', async () => {
    const user = { user_id: 'a', email: 'a@example.com', email_verified: false, mfa_factors: [{ totp: { secret } }] };
    const file = write('u.json', JSON.stringify([user]));
    expect((await run(file, '--from', 'auth0')).out).toContain('0 added');
    const ran = await run(file, '--from', 'auth0', '--unverified');
    expect(ran.out).toContain('Not taken, 1: TOTP: the address was not verified');
    expect(await subAfterMail('a@example.com')).toBe('auth0|a');
  });

  it.each([
    [['--from', 'ldap'], '--from must be one of'],
    [['--from', 'clerk', '--clients', 'x'], '--clients needs'],
    [['--from', 'csv', '--columns', 'a=b'], '--columns: b is not one of'],
  ])('refuses %j', async (args, reason) => {
    const ran = await run('x.json', ...args);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(reason)]);
  });

  it('names the file that is broken or missing', async () => {
    const broken = await run(write('b.json', '[{"user_id":"a"'), '--from', 'auth0');
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('b.json ends in the middle of JSON')]);
    const missing = await run(join(folder, 'none'), '--from', 'auth0');
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('does not exist')]);
  });
});
