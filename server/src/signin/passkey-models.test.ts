import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { map, SoftAuthenticator, type SoftCredential } from '../../test/authenticator.ts';
import { newAuthenticatorCertificate, newAuthority, type TestCertificate } from '../../test/certificates.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import type { StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import type { Passkey } from '../domain/credentials/passkey.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';
const otherModel = 'ee882879-721c-4913-9775-3dfcce97072a';
const root = newAuthority('Example root');
const maker = newAuthority('Example maker', root);
const weakPair = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });
const shortPair = generateKeyPairSync('rsa', { modulusLength: 1024 });
const over: [Date, Date] = [new Date('2020-01-01'), new Date('2021-01-01')];
const notYet: [Date, Date] = [new Date('2119-01-01'), new Date('2120-01-01')];
const refused = refusal('PASSKEY_MODEL_NOT_ALLOWED', 403);

/** A `packed` statement with the certificates, signed by the key of the first. */
function attested(path: TestCertificate[], model = aaguid) {
  const [leaf] = path;
  const signed = (bytes: Uint8Array) => sign('sha256', bytes, leaf!.privateKey);
  const x5c = path.map(({ der }) => der);
  return {
    aaguid: model.replaceAll('-', ''),
    format: 'packed',
    statement: (bytes: Uint8Array) => map(['alg', -7], ['sig', signed(bytes)], ['x5c', x5c]),
  };
}

const leafOf = (issuer?: TestCertificate, certificate = { aaguid } as { aaguid?: string; validity?: [Date, Date] }) =>
  newAuthenticatorCertificate(issuer, certificate);
const genuine = () => attested([leafOf(maker), maker]);
const withoutAttestation = { aaguid: aaguid.replaceAll('-', '') };

let userid: string;
let hosted: HostedBrowser;

/** A new user with a mail code creates a passkey with `deviations`. */
async function create(deviations: Record<string, unknown>): Promise<StepAnswer> {
  hosted = new HostedBrowser(world, new SoftAuthenticator());
  userid = newAddress();
  await hosted.open();
  expectStatus(await hosted.register(userid), 'SUCCESS');
  return hosted.addPasskey(deviations);
}

async function stored(): Promise<Passkey[]> {
  const user = await world.findUser(userid);
  const owner = { projectId: world.project.id, userId: user?.id ?? '' };
  return world.app.services.passkeys.list(world.app.services.db.reader(), owner);
}

async function lastFault(): Promise<unknown> {
  const where = { projectId: world.project.id, type: 'passkey.rejected' };
  const event = await world.app.services.db.reader().findOne(AuditEvent, where, { orderBy: { id: 'desc' } });
  return event?.detail;
}

describe('a project that allows some models of passkeys, with roots', () => {
  beforeEach(() => world.set({ passkeyAaguids: [aaguid], passkeyRoots: [root.pem], passkeyPolicy: 'allowed' }));

  it('accepts a passkey whose certificates lead to a root, and stores that root', async () => {
    expectStatus(await create(genuine()), 'PASSKEY_REGISTERED');
    expect(await stored()).toMatchObject([{ aaguid, attestedRoot: expect.stringMatching(/^[\w-]{43}$/) }]);
    const again = new HostedBrowser(world, hosted.authenticator);
    await again.open();
    expectStatus(await again.usePasskey(), 'SUCCESS');
  });

  it('accepts a path that includes the root, and one of the root alone', async () => {
    expectStatus(await create(attested([leafOf(maker), maker, root])), 'PASSKEY_REGISTERED');
    expectStatus(await create(attested([leafOf(root)])), 'PASSKEY_REGISTERED');
  });

  it('asks the browser for attestation, and never creates without a dialog', async () => {
    await create(genuine());
    hosted = new HostedBrowser(world, new SoftAuthenticator());
    await hosted.open();
    expectStatus(await hosted.register(newAddress()), 'SUCCESS');
    expect(await hosted.page.step('passkey-options', { purpose: 'conditional_registration' })).toMatchObject(refused);
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(options.attestation).toBe('direct');
  });

  const foreignRoot = newAuthority('Example root');
  const foreignMaker = newAuthority('Example maker', foreignRoot);
  const expiredMaker = newAuthority('Example maker', root, { validity: over });
  const noAuthority = newAuthority('Example maker', root, { isAuthority: false });
  const weakMaker = newAuthority('Example maker', root, { pair: weakPair });
  const device = leafOf(maker);
  const paths = (certificate: TestCertificate, ...others: TestCertificate[]) => attested([certificate, ...others]);
  const withPem = (own: TestCertificate, { pem }: TestCertificate) => ({
    ...own,
    der: Buffer.concat([own.der, Buffer.from(`\n${pem}`)]),
  });
  it.each<[why: string, fault: string, deviations: Record<string, unknown>]>([
    ['no attestation', 'attestation-missing', withoutAttestation],
    ['self attestation', 'self-attestation', { ...withoutAttestation, format: 'packed' }],
    ['another model', 'model', attested([leafOf(maker, { aaguid: otherModel }), maker], otherModel)],
    ['a hidden model', 'model', attested([leafOf(maker, {}), maker], '00000000-0000-0000-0000-000000000000')],
    ['a certificate of another model', 'attestation', paths(leafOf(maker, { aaguid: otherModel }), maker)],
    ['an expired certificate', 'attestation', paths(leafOf(maker, { aaguid, validity: over }), maker)],
    ['a certificate of the future', 'attestation', paths(leafOf(maker, { aaguid, validity: notYet }), maker)],
    ['an expired issuer', 'attestation-root', paths(leafOf(expiredMaker), expiredMaker)],
    ['a foreign root of the same name', 'attestation-root', paths(leafOf(foreignMaker), foreignMaker, foreignRoot)],
    ['a foreign root, and ours appended', 'attestation-root', paths(leafOf(foreignMaker), foreignMaker, root)],
    ['a truncated path', 'attestation-root', paths(leafOf(maker))],
    ['a path with a gap', 'attestation-root', paths(leafOf(maker), root)],
    ['an issuer that is not an authority', 'attestation-root', paths(leafOf(noAuthority), noAuthority)],
    ['a device as issuer', 'attestation-root', paths(leafOf(device), device, maker)],
    ['a self-signed certificate', 'attestation-root', paths(leafOf())],
    [
      "a maker's certificate in PEM after their own",
      'attestation-root',
      paths(withPem(leafOf(), leafOf(maker)), maker),
    ],
    ['an issuer with a weak key', 'attestation-root', paths(leafOf(weakMaker), weakMaker)],
    ['a path that is too long', 'attestation-root', paths(leafOf(maker), ...Array.from({ length: 4 }, () => maker))],
    ['no certificate', 'attestation', { ...attested([leafOf()]), statement: map(['alg', -7], ['x5c', []]) }],
    ['a format without certificates of models', 'attestation', { ...genuine(), format: 'android-key' }],
  ])('refuses %s', async (_, fault, deviations) => {
    expect(await create(deviations)).toMatchObject(refused);
    expect(await lastFault()).toMatchObject({ fault });
    expect(await stored()).toEqual([]);
  });

  it('refuses a signature by a different key than the certificate', async () => {
    const [leaf, other] = [leafOf(maker), leafOf(maker)];
    const forged = { ...attested([leaf, maker]), statement: attested([other, maker]).statement };
    const mixed = (bytes: Uint8Array) => forged.statement(bytes).set('x5c', [leaf.der, maker.der]);
    expect(await create({ ...forged, statement: mixed })).toMatchObject(refused);
    expect(await lastFault()).toMatchObject({ fault: 'attestation', aaguid });
  });

  it('does not request the revocation list that a certificate names', async () => {
    const asked: string[] = [];
    const lists = createServer((request, response) => response.end(asked.push(request.url ?? '')));
    await new Promise<void>((listening) => lists.listen(0, '127.0.0.1', listening));
    const { port } = lists.address() as AddressInfo;
    const leaf = newAuthenticatorCertificate(maker, { aaguid, revocationList: `http://127.0.0.1:${port}/list.crl` });
    expect(leaf.der.toString('latin1')).toContain('/list.crl');
    expectStatus(await create(attested([leaf, maker])), 'PASSKEY_REGISTERED');
    await new Promise((closed) => lists.close(closed));
    expect(asked).toEqual([]);
  });

  it('allows another try with another authenticator in the same sign-in', async () => {
    expect(await create(withoutAttestation)).toMatchObject(refused);
    expectStatus(await hosted.addPasskey(genuine()), 'PASSKEY_REGISTERED');
  });

  it('does not end a sign-in that requires a passkey with a passkey of another model', async () => {
    await world.set({ passkeyPolicy: 'required' });
    hosted = new HostedBrowser(world, new SoftAuthenticator());
    userid = newAddress();
    await hosted.open();
    expectStatus(await hosted.register(userid), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await hosted.addPasskey(withoutAttestation)).toMatchObject(refused);
    expectStatus(await hosted.addPasskey(genuine()), 'SUCCESS');
  });

  it('checks against the list at the time when the passkey is sent', async () => {
    hosted = new HostedBrowser(world, new SoftAuthenticator());
    await world.set({ passkeyAaguids: [], passkeyRoots: [] });
    await hosted.open();
    expectStatus(await hosted.register(newAddress()), 'SUCCESS');
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(options.attestation).toBe('none');
    await world.set({ passkeyAaguids: [aaguid], passkeyRoots: [root.pem] });
    const credential = hosted.authenticator.create(options, { origin: world.app.url });
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(refused);
  });

  it('accepts sign-ins with a passkey that was created before the list', async () => {
    await world.set({ passkeyAaguids: [], passkeyRoots: [] });
    expectStatus(await create({}), 'PASSKEY_REGISTERED');
    await world.set({ passkeyAaguids: [aaguid], passkeyRoots: [root.pem] });
    const again = new HostedBrowser(world, hosted.authenticator);
    await again.open();
    expectStatus(await again.usePasskey(), 'SUCCESS');
  });
});

describe('a project that allows some models of passkeys, without roots', () => {
  beforeEach(() => world.set({ passkeyAaguids: [aaguid], passkeyRoots: [], passkeyPolicy: 'allowed' }));

  it('accepts the model that a certificate of any maker claims, and marks it as not proved', async () => {
    expectStatus(await create(attested([leafOf()])), 'PASSKEY_REGISTERED');
    expect(await stored()).toMatchObject([{ aaguid, attestedRoot: null }]);
  });

  it('refuses other models, and passkeys without attestation', async () => {
    expect(await create(attested([leafOf(undefined, { aaguid: otherModel })], otherModel))).toMatchObject(refused);
    expect(await create(withoutAttestation)).toMatchObject(refused);
    expect(await create({ ...withoutAttestation, format: 'packed' })).toMatchObject(refused);
  });

  it('refuses self attestation with an x5c that is false', async () => {
    const statement = (bytes: Uint8Array, { privateKey }: SoftCredential) =>
      map(['alg', -7], ['sig', sign('sha256', bytes, privateKey)], ['x5c', false]);
    expect(await create({ ...withoutAttestation, alg: -7, format: 'packed', statement })).toMatchObject(refused);
  });
});

it('allows every model of a root if only roots are set', async () => {
  await world.set({ passkeyAaguids: [], passkeyRoots: [root.pem], passkeyPolicy: 'allowed' });
  expectStatus(
    await create(attested([leafOf(maker, { aaguid: otherModel }), maker], otherModel)),
    'PASSKEY_REGISTERED',
  );
  expect(await create(attested([leafOf()]))).toMatchObject(refused);
});

describe('the settings', () => {
  const set = async (change: Parameters<SigninWorld['set']>[0]) =>
    world.app.services.projects.update(world.project.id, change, system);
  const chain = `${root.pem}\n${maker.pem}`;
  it.each([
    ['passkeyAaguids', ['YubiKey']],
    ['passkeyAaguids', ['00000000-0000-0000-0000-000000000000']],
    ['passkeyAaguids', Array.from({ length: 101 }, (_, n) => otherModel.replace(/^.{3}/, String(n).padStart(3, '0')))],
    ['passkeyAaguids', [7 as never]],
    ['passkeyRoots', ['nonsense']],
    ['passkeyRoots', [chain]],
    ['passkeyRoots', ['A'.repeat(1_000_000)]],
    ['passkeyRoots', [leafOf(root).pem]],
    ['passkeyRoots', [newAuthority('Old', undefined, { validity: over }).pem]],
    ['passkeyRoots', [newAuthority('Weak', undefined, { pair: weakPair }).pem]],
    ['passkeyRoots', [newAuthority('Short', undefined, { pair: shortPair }).pem]],
    ['passkeyRoots', Array.from({ length: 11 }, () => root.pem)],
  ])('refuse invalid %s', async (field, value) => {
    await expect(set({ [field]: value })).rejects.toMatchObject({ problem: { code: 'invalid', field } });
  });

  it('are stored in one form, each value once', async () => {
    const noisy = root.pem.replaceAll('\n', '\r\n');
    const project = await set({
      passkeyAaguids: [aaguid.toUpperCase(), ` ${aaguid}`],
      passkeyRoots: [noisy, `Example\n${root.pem}`],
    });
    expect(project).toMatchObject({ passkeyAaguids: [aaguid], passkeyRoots: [root.pem] });
  });
});
