import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  address,
  type DelegationWorld,
  makePair,
  openDelegation,
  type TestBackEnd,
  turn,
} from '../../test/back-end.ts';
import type { TestApp } from '../../test/build-app.ts';
import { changed } from '../../test/rows.ts';
import type { DelegationKey } from '../domain/clients/delegation-key.entity.ts';
import { system } from '../domain/kernel/actor.ts';

let world: DelegationWorld;
let app: TestApp;
let backEnd: TestBackEnd;

beforeEach(async () => {
  world = await openDelegation();
  ({ app, backEnd } = world);
});
afterEach(() => world.close());

describe('keys of delegation', () => {
  it('rotate at Latchkey: responses are signed with the pair that the request was encrypted to', async () => {
    const before = await backEnd.delegationClient();
    turn(app, 1);
    await app.services.delegationKeys.rotate(backEnd.client, system, 3600);
    const after = await backEnd.delegationClient();
    for (const library of [before, after]) {
      expect((await library.getUserCredentials(address)).status).toBe('success');
    }
    turn(app, 3600);
    await expect(before.getUserCredentials(address)).rejects.toMatchObject({ code: 'REQUEST_REJECTED' });
    expect((await after.getUserCredentials(address)).status).toBe('success');
  });

  it('rotate at the back end: responses are encrypted to the pair that signed the request', async () => {
    const before = await backEnd.delegationClient();
    turn(app, 1);
    backEnd.pair = makePair();
    await app.services.delegationKeys.register(backEnd.client, backEnd.pair.publicPem, system, 3600);
    const after = await backEnd.delegationClient();
    for (const library of [before, after]) {
      expect((await library.getUserCredentials(address)).status).toBe('success');
    }
    turn(app, 3600);
    await expect(before.getUserCredentials(address)).rejects.toMatchObject({ name: 'DelegationError' });
    expect((await after.getUserCredentials(address)).status).toBe('success');
  });

  it('are rejected once revoked', async () => {
    const library = await backEnd.delegationClient();
    const keys = await app.services.delegationKeys.list(app.services.db.reader(), [backEnd.client]);
    const ours = keys.find(({ party }) => party === 'idp');
    await app.services.delegationKeys.revoke(ours as DelegationKey, system);
    await expect(library.getUserCredentials(address)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
  });

  it('of small order, stored by an earlier release, are not used', async () => {
    const library = await backEnd.delegationClient();
    const der = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.of(1), Buffer.alloc(31)]);
    const pem = `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`;
    const change = `update delegation_keys set encryption_public_pem = ? where client_id = ? and party = 'sp'`;
    expect(await changed(app.services.db, change, [pem, backEnd.client.id])).toBe(1);
    await expect(library.getUserCredentials(address)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
  });

  it('are required', async () => {
    const { client, secretKey } = await app.make.client(world.project);
    const library = await backEnd.delegationClient({ spId: client.id, apiKey: secretKey });
    await expect(library.getUserCredentials(address)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
  });
});
