import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makePair } from '../../../test/back-end.ts';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { listEvents } from '../audit/events.ts';
import type { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import { Refusal } from '../kernel/problem.ts';
import type { DelegationKeys } from './delegation-keys.ts';

let app: TestApp;
let keys: DelegationKeys;
let client: Client;

beforeAll(async () => {
  app = await buildTestApp();
  keys = app.services.delegationKeys;
});
afterAll(() => app.close());
beforeEach(async () => {
  ({ client } = await app.make.client(await app.make.project()));
});

const list = () => keys.list(app.services.db.reader(), [client]);
const load = () => keys.load(app.services.db.reader(), client);

async function problemOf(work: Promise<unknown>) {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Refusal);
  return (error as Refusal).problem;
}

describe('delegation keys', () => {
  it('come in pairs: the client’s pair is registered, ours is created with the first one', async () => {
    await keys.register(client, makePair().publicPem, system);
    await keys.register(client, makePair().publicPem, system);
    expect((await list()).map(({ party }) => party).sort()).toEqual(['idp', 'sp', 'sp']);
  });

  it('are encrypted at rest on our side, each half separately', async () => {
    await keys.register(client, makePair().publicPem, system);
    const [ours] = (await list()).filter(({ party }) => party === 'idp');
    expect(ours?.signingPublicPem).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    const [loaded] = (await load()).idp;
    const der = loaded?.signing.export({ type: 'pkcs8', format: 'der' }) as Buffer;
    expect(Buffer.from(ours?.sealedSigningKey ?? '').includes(der.subarray(-32))).toBe(false);
    await app.services.db.transaction((em) =>
      em.execute('update delegation_keys set sealed_signing_key = sealed_encryption_key where id = ?', [ours?.id]),
    );
    await expect(load()).rejects.toMatchObject({ name: 'VaultError' });
  });

  it('cannot be replaced by keys of another client', async () => {
    const { client: other } = await app.make.client(await app.make.project());
    for (const one of [client, other]) await keys.register(one, makePair().publicPem, system);
    await app.services.db.transaction((em) =>
      em.execute(
        `update delegation_keys k set sealed_signing_key = o.sealed_signing_key from delegation_keys o
         where k.client_id = ? and k.party = 'idp' and o.client_id = ? and o.party = 'idp'`,
        [client.id, other.id],
      ),
    );
    await expect(load()).rejects.toMatchObject({ name: 'VaultError' });
  });

  it('overlap on rotation, then expire', async () => {
    await keys.register(client, makePair().publicPem, system);
    const [first] = (await load()).idp;
    await keys.rotate(client, system, 3600);
    expect((await load()).idp.map(({ signingKid }) => signingKid).at(-1)).toBe(first?.signingKid);
    expect((await load()).idp).toHaveLength(2);
    app.clock.turn(3600);
    expect((await load()).idp).toHaveLength(1);
    expect((await load()).idp[0]?.signingKid).not.toBe(first?.signingKid);
    await keys.rotate(client, system, 0);
    expect((await load()).idp).toHaveLength(1);
  });

  it('end immediately when revoked; revocation is idempotent', async () => {
    const pair = await keys.register(client, makePair().publicPem, system);
    await keys.revoke(pair, system);
    await keys.revoke(pair, system);
    expect((await load()).sp).toEqual([]);
  });

  it('appear in the audit log by thumbprint', async () => {
    const pair = await keys.register(client, makePair().publicPem, system);
    await keys.rotate(client, system);
    await keys.revoke(pair, system);
    const filter = { clientId: client.id };
    const page = { first: 50, after: null };
    const { items } = await listEvents(app.services.db.reader(), client.project.id, filter, page);
    const types = items.filter(({ subjectKind }) => subjectKind === 'delegation-key').map(({ type }) => type);
    expect(types.reverse()).toEqual([
      'delegation-key.registered',
      'delegation-key.generated',
      'delegation-key.generated',
      'delegation-key.revoked',
    ]);
    expect(items[0]?.detail).toMatchObject({ party: 'sp', signingKid: pair.signingKid });
  });

  it('are refused as duplicates, beyond five live pairs, and for an unknown client', async () => {
    const { publicPem } = makePair();
    await keys.register(client, publicPem, system);
    expect(await problemOf(keys.register(client, publicPem, system))).toMatchObject({ code: 'taken' });
    for (let count = 1; count < 5; count += 1) await keys.register(client, makePair().publicPem, system);
    expect(await problemOf(keys.register(client, makePair().publicPem, system))).toMatchObject({ code: 'invalid' });
    const unknownClient = { ...client, id: crypto.randomUUID() };
    expect(await problemOf(keys.rotate(unknownClient, system))).toMatchObject({ code: 'not-found', what: 'client' });
    expect(await problemOf(keys.revoke(unknownClient, system))).toMatchObject({
      code: 'not-found',
      what: 'delegation-key',
    });
    expect(await problemOf(keys.rotate({ ...client, id: 'x' }, system))).toMatchObject({ code: 'not-found' });
    expect(await problemOf(keys.rotate(client, system, -1))).toMatchObject({ field: 'overlapSeconds' });
  });

  it('must be public keys of the right type, in PEM', async () => {
    const good = makePair();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });
    const wrong = [
      '',
      'nonsense',
      good.publicPem.encryption,
      good.privatePem.signing,
      rsa.toString(),
      'x'.repeat(5000),
    ];
    wrong.push(
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
      `${good.publicPem.signing}${good.publicPem.signing}`,
    );
    for (const signing of wrong) {
      const problem = await problemOf(keys.register(client, { ...good.publicPem, signing }, system));
      expect(problem).toMatchObject({ code: 'invalid', field: 'signingKey' });
      expect(JSON.stringify(problem)).not.toContain(good.privatePem.signing.split('\n')[1]);
    }
    const swapped = { signing: good.publicPem.signing, encryption: good.publicPem.signing };
    expect(await problemOf(keys.register(client, swapped, system))).toMatchObject({ field: 'encryptionKey' });
    expect(await list()).toEqual([]);
  });

  it('are deleted with their client', async () => {
    await keys.register(client, makePair().publicPem, system);
    await app.services.clients.delete(client, system);
    expect(await list()).toEqual([]);
  });
});
