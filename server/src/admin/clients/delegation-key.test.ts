import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { makePair } from '../../../test/back-end.ts';

let harness: AdminHarness;
let clientId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  const demo = harness.builtIn.demoClient;
  clientId = demo?.id ?? '';
});
afterAll(() => harness.close());

const all = 'id party signingKid encryptionKid signingPublicPem encryptionPublicPem createdAt expiresAt';
const register = (input: object) =>
  harness.call(`mutation ($input: RegisterDelegationKeysInput!) { registerDelegationKeys(input: $input) { ${all} } }`, {
    input: { clientId, ...input },
  });
const keys = async () => {
  const { data } = await harness.call(`query ($id: ID!) { client(id: $id) { delegationKeys { ${all} } } }`, {
    id: clientId,
  });
  return data.client.delegationKeys as {
    id: string;
    party: string;
    expiresAt: string | null;
    signingPublicPem: string;
  }[];
};

describe('delegation keys in the admin API', () => {
  it('are registered, shown with ours, rotated and revoked', async () => {
    const { publicPem } = makePair();
    const registered = await register({ signingKey: publicPem.signing, encryptionKey: publicPem.encryption });
    expect(registered.data.registerDelegationKeys).toMatchObject({ party: 'SP', signingPublicPem: publicPem.signing });
    expect((await keys()).map(({ party }) => party).sort()).toEqual(['IDP', 'SP']);

    harness.clock.turn(1);
    const rotate =
      'mutation ($input: RotateDelegationKeysInput!) { rotateDelegationKeys(input: $input) { id party expiresAt } }';
    const rotated = await harness.call(rotate, { input: { clientId, overlapSeconds: 60 } });
    expect(rotated.data.rotateDelegationKeys).toMatchObject({ party: 'IDP', expiresAt: null });
    const before = (await keys()).find(
      ({ id, party }) => party === 'IDP' && id !== rotated.data.rotateDelegationKeys.id,
    );
    expect(before?.expiresAt).toBe(new Date(harness.clock.now().getTime() + 60_000).toISOString());

    const revoke = 'mutation ($id: ID!) { revokeDelegationKey(id: $id) { expiresAt } }';
    const revoked = await harness.call(revoke, { id: registered.data.registerDelegationKeys.id });
    expect(revoked.data.revokeDelegationKey.expiresAt).toBe(harness.clock.now().toISOString());
  });

  it('are refused if they are points of small order', async () => {
    const { publicPem } = makePair();
    const weak = (crv: string) =>
      createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv, x: `AQ${'A'.repeat(41)}` } })
        .export({ type: 'spki', format: 'pem' })
        .toString();
    const encryption = await register({ signingKey: publicPem.signing, encryptionKey: weak('X25519') });
    expect(encryption.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'encryptionKey' });
    const signing = await register({ signingKey: weak('Ed25519'), encryptionKey: publicPem.encryption });
    expect(signing.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'signingKey' });
    const jwks = { kty: 'OKP', crv: 'Ed25519', x: `AQ${'A'.repeat(41)}` };
    const update = 'mutation ($input: UpdateClientInput!) { updateClient(input: $input) { id } }';
    const client = await harness.call(update, { input: { id: clientId, jwks } });
    expect(client.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'jwks' });
  });

  it('are refused if invalid, without being echoed', async () => {
    const { privatePem, publicPem } = makePair();
    const answer = await register({ signingKey: privatePem.signing, encryptionKey: publicPem.encryption });
    expect(answer.errors[0].extensions).toMatchObject({ code: 'invalid', field: 'signingKey' });
    expect(answer.body).not.toContain(privatePem.signing.split('\n')[1]);
  });
});
