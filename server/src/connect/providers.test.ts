import { expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import { newAddress } from '../../test/signin-world.ts';
import { Connection } from '../domain/connections/connection.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const services = () => world.app.services;
const outcome = async () => {
  const to = await own.through(await own.browser());
  return to.searchParams.get('connect') ?? to.pathname;
};
const reads = (path: string) => own.provider.requests.filter((one) => one === path).length;

it('a provider that hangs delays its own sign-ins alone', async () => {
  Object.assign(own.provider.person, { email: newAddress() });
  own.provider.lies = { at: { '/token': () => undefined } };
  const browser = await own.browser();
  const back = own.provider.agree(await own.start(browser));
  const hanging = browser.browser.get(back.href);
  const address = newAddress();
  const other = await own.browser();
  await world.register(other.page, address);
  expect(await world.findUser(address)).not.toBeNull();
  expect(locationOf(await hanging).searchParams.get('connect')).toBe('failed');
});

it.each([
  [
    '1 GB',
    (res: import('node:http').ServerResponse) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': String(1 << 30) });
      const chunk = Buffer.alloc(1 << 16, 'x');
      const more = () => {
        while (!res.destroyed && res.write(chunk));
      };
      res.on('drain', more);
      more();
    },
  ],
  [
    'a redirect',
    (res: import('node:http').ServerResponse) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  ],
  ['a closed connection', (res: import('node:http').ServerResponse) => void res.destroy()],
])('a token endpoint that answers %s is refused', async (_, answer) => {
  own.provider.lies = { at: { '/token': (_req, res) => answer(res) } };
  expect(await outcome()).toBe('failed');
  own.provider.lies = {};
  Object.assign(own.provider.person, { email: newAddress() });
  expect(await outcome()).toBe('/authorize/resume');
});

it('a key set is read once in ten minutes, again for a new key after a minute, and kept while it cannot be read', async () => {
  Object.assign(own.provider.person, { email: newAddress() });
  world.app.clock.turn(3600);
  await outcome();
  const before = reads('/keys');
  for (let round = 0; round < 3; round++) expect(await outcome()).toBe('/authorize/resume');
  expect(reads('/keys')).toBe(before);
  await own.provider.rotate();
  // Not read at each unknown kid: an attacker could cause it.
  for (let round = 0; round < 3; round++) expect(await outcome()).toBe('failed');
  expect(reads('/keys')).toBe(before);
  world.app.clock.turn(61);
  expect(await outcome()).toBe('/authorize/resume');
  expect(reads('/keys')).toBe(before + 1);
  for (const keys of ['x'.repeat(10 << 20), 'no json', '{"keys":7}']) {
    own.provider.lies = { keys };
    world.app.clock.turn(700);
    const isKept = keys !== '{"keys":7}';
    expect(await outcome()).toBe(isKept ? '/authorize/resume' : 'failed');
  }
});

it('a new client secret works from then on, and the old one no longer', async () => {
  Object.assign(own.provider.person, { email: newAddress() });
  expect(await outcome()).toBe('/authorize/resume');
  const { secret } = own.provider;
  own.provider.secret = 'a new secret';
  expect(await outcome()).toBe('failed');
  const oidc = { clientSecret: 'a new secret' };
  const changed = await services().connections.update(own.connection, { oidc }, system);
  expect(changed.failures).toEqual({});
  expect(await outcome()).toBe('/authorize/resume');
  own.provider.secret = secret;
});

it('shows its health', async () => {
  Object.assign(own.provider.person, { email: newAddress() });
  await outcome();
  own.provider.lies = { claims: { aud: 'another' } };
  await outcome();
  await outcome();
  const connection = await services()
    .db.reader()
    .findOneOrFail(Connection, { project: world.project.id, id: own.connection.id });
  expect(connection).toMatchObject({ failures: { audience: 2 } });
  expect(connection.lastSuccessAt).toEqual(world.app.clock.now());
  expect(connection.lastFailureAt).toEqual(world.app.clock.now());
  expect((await world.events()).filter((type) => type === 'connection.failed')).toHaveLength(1);
});

it('a preset fixes the tenant', async () => {
  const { connections } = services();
  const oidc = { clientId: 'x', clientSecret: 'y' };
  const at = (preset: string, issuer?: string, more = {}) =>
    connections.create(
      { projectId: world.project.id, kind: 'oidc', preset, name: 'X', oidc: { ...oidc, issuer, ...more } },
      system,
    );
  const invalid = (field: string) => ({ problem: { code: 'invalid', field } });
  await expect(at('entra', 'https://login.microsoftonline.com/common/v2.0')).rejects.toMatchObject(
    invalid('oidc.issuer'),
  );
  await expect(at('google', 'https://attacker.example')).rejects.toMatchObject(invalid('oidc.issuer'));
  await expect(at('generic', 'idp.example.com')).rejects.toMatchObject(invalid('oidc.issuer'));
  await expect(at('github')).rejects.toMatchObject(invalid('preset'));
  await expect(at('okta', 'https://example.okta.com', { hostedDomain: 'x.example' })).rejects.toMatchObject(
    invalid('oidc.hostedDomain'),
  );
  const google = await at('google', undefined, { hostedDomain: 'example.com' });
  expect(google.settings).toMatchObject({ issuer: 'https://accounts.google.com', hostedDomain: 'example.com' });
});

it.each([
  ['the domain of the connection', 'example.com', '/authorize/resume'],
  ['another domain', 'attacker.example', 'failed'],
  ['no domain', undefined, 'failed'],
])('an account with %s in hd', async (_, hd, expected) => {
  Object.assign(own.provider.person, { email: newAddress(), hd });
  await services().db.transaction(async (em) => {
    const connection = await em.findOneOrFail(Connection, { project: world.project.id, id: own.connection.id });
    connection.settings = { ...connection.settings, hostedDomain: 'example.com' };
  });
  expect(await outcome()).toBe(expected);
});
