import { inspect } from 'node:util';
import {
  compactVerify,
  createLocalJWKSet,
  decodeProtectedHeader,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
} from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Audit } from '../audit/audit.ts';
import { system } from '../kernel/actor.ts';
import { secondsLater } from '../kernel/clock.ts';
import { Database } from '../kernel/database.ts';
import { Keys, skewSeconds } from './keys.ts';
import { defaultSchedule } from './schedule.ts';
import { Signer } from './signer.ts';
import { SigningKey } from './signing-key.entity.ts';
import { Vault, VaultError } from './vault.ts';

const day = 24 * 3600;
let database: FreshDatabase;
let open: { close(force?: boolean): Promise<void> }[];
const clock = adjustableClock();

beforeEach(async () => {
  database = await freshDatabase();
  open = [];
});

afterEach(async () => {
  for (const orm of open) await orm.close(true);
  await database.drop();
});

/** A second process on the same database, whose clock is some seconds behind. */
async function keysOfAProcess(
  masterKey = new Uint8Array(32),
  late = 0,
  onRepair?: (algorithms: readonly string[]) => void,
): Promise<{ keys: Keys; db: Database }> {
  const orm = await openDatabase({ url: database.url, poolSize: 2 });
  open.push(orm);
  const db = new Database(orm);
  const vault = new Vault(masterKey, systemRandom);
  const own = { now: () => secondsLater(clock.now(), -late) };
  const audit = new Audit({ clock: own, random: systemRandom });
  return { db, keys: new Keys({ db, vault, clock: own, audit, schedule: defaultSchedule, onRepair }) };
}

async function kids(keys: Keys): Promise<string[]> {
  return (await keys.published()).map(({ kid }) => kid).sort();
}

describe('the keys of several processes', () => {
  it('are created once if all processes start concurrently', async () => {
    const processes = await Promise.all(Array.from({ length: 4 }, () => keysOfAProcess()));
    await Promise.all(processes.map(({ keys }) => keys.maintain()));
    const seen = await Promise.all(processes.map(({ keys }) => kids(keys)));
    expect(new Set(seen.map(String)).size).toBe(1);
    expect(seen[0]).toHaveLength(2);
  });

  it('rotate once if all processes find them due', async () => {
    const processes = await Promise.all(Array.from({ length: 3 }, () => keysOfAProcess()));
    const [first] = processes;
    await first?.keys.maintain();
    const before = await kids(first?.keys as Keys);
    clock.turn(89 * day);
    await Promise.all(processes.map(({ keys }) => keys.maintain()));
    const during = await kids(first?.keys as Keys);
    expect(during).toEqual(expect.arrayContaining(before));
    expect(during).toHaveLength(4);
    clock.turn(day);
    const active = await Promise.all(processes.map(async ({ keys }) => (await keys.signing('ES512')).kid));
    expect(new Set(active).size).toBe(1);
    expect(before).not.toContain(active[0]);
    clock.turn(3 * day);
    await first?.keys.maintain();
    expect(await kids(first?.keys as Keys)).toHaveLength(2);
  });

  it('end with their time, even if no process maintains them', async () => {
    const { keys } = await keysOfAProcess();
    await keys.maintain();
    const old = await kids(keys);
    await keys.rotate(system);
    clock.turn(3 * day);
    expect(await kids(keys)).toHaveLength(2);
    expect(await kids(keys)).not.toEqual(expect.arrayContaining(old));
  });

  it('apply an emergency withdrawal within five seconds', async () => {
    const [here, there] = [await keysOfAProcess(), await keysOfAProcess()];
    await here.keys.maintain();
    const leaked = (await there.keys.signing('ES512')).kid;
    const signer = new Signer({ keys: there.keys, clock, issuer: 'https://id.example.com' });
    const token = await signer.sign('id-token', { sub: 'x', aud: 'y', exp: 4_102_444_800 });
    await here.keys.withdraw(leaked, system);
    clock.turn(5);
    expect((await there.keys.signing('ES512')).kid).not.toBe(leaked);
    expect(await kids(there.keys)).not.toContain(leaked);
    expect(await signer.verify('id-token', token)).toBeNull();
  });
});

describe('a token that another process signed with a key that it has just created', () => {
  const issuer = 'https://id.example.com';
  const claims = { sub: 'x', aud: 'y', exp: 4_102_444_800 };
  const signerOf = ({ keys }: { keys: Keys }) => new Signer({ keys, clock, issuer });

  it('is verified: the first of an algorithm, and the successor of a withdrawn one', async () => {
    const [here, there] = [await keysOfAProcess(), await keysOfAProcess()];
    await here.keys.maintain();
    const leaked = (await there.keys.signing('ES512')).kid;
    const first = await signerOf(here).sign('api-token', claims);
    expect(await signerOf(there).verify('api-token', first)).toMatchObject(claims);
    clock.turn(5);
    await there.keys.published();
    await here.keys.withdraw(leaked, system);
    const next = await signerOf(here).sign('id-token', claims);
    expect(await signerOf(there).verify('id-token', next)).toMatchObject(claims);
  });

  it('is looked up once in five seconds, also for tokens that name different keys', async () => {
    const { keys } = await keysOfAProcess();
    await keys.maintain();
    const token = await signerOf({ keys }).sign('api-token', claims);
    const [, ...rest] = token.split('.');
    const forged = (kid: string) =>
      [Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid })).toString('base64url'), ...rest].join('.');
    const reads = await statementsDuring(async () => {
      for (let at = 0; at < 20; at += 1) {
        expect(await signerOf({ keys }).verify('api-token', forged(`unknown-${at}`))).toBeNull();
      }
    });
    expect(reads).toHaveLength(1);
  });
});

describe('a process whose clock is behind', () => {
  const withdrawals: Record<string, (keys: Keys) => Promise<unknown>> = {
    'of a key': async (keys) => keys.withdraw((await keys.signing('ES512')).kid, system),
    'of a key that has a successor': async (keys) => {
      await keys.rotate(system);
      await keys.withdraw((await keys.signing('ES512')).kid, system);
    },
    'of all keys': (keys) => keys.withdrawAll(system),
  };

  it.each(Object.entries(withdrawals))('signs with the keys that follow a withdrawal %s', async (_, withdraw) => {
    const [here, there] = [await keysOfAProcess(), await keysOfAProcess(undefined, skewSeconds - 1)];
    await here.keys.maintain();
    const leaked = (await here.keys.signing('ES512')).kid;
    await withdraw(here.keys);
    expect((await there.keys.signing('ES512')).kid).not.toBe(leaked);
    expect(await kids(there.keys)).not.toContain(leaked);
  });
});

describe('a clock that was ahead and goes back', () => {
  const hour = 3600;

  it('leaves signing keys: those of its first start sign at once', async () => {
    const repaired: string[][] = [];
    const { keys, db } = await keysOfAProcess(undefined, -hour);
    await keys.maintain();
    const early = await kids(keys);
    const here = await keysOfAProcess(undefined, 0, (algorithms) => repaired.push([...algorithms]));
    expect(await here.keys.fault()).toBe('no ES512 signing key');
    const signer = new Signer({ keys: here.keys, clock, issuer: 'https://id.example.com' });
    const token = await signer.sign('id-token', { sub: 'x', aud: 'y', exp: 4_102_444_800 });
    expect(early).toContain(decodeProtectedHeader(token).kid);
    await signer.sign('access-token', { sub: 'x', aud: 'y', exp: 4_102_444_800 });
    expect(await kids(here.keys)).toEqual(early);
    expect(repaired).toEqual([['ES512'], ['EdDSA']]);
    expect(await here.keys.fault()).toBeNull();
    expect(await db.reader().count(SigningKey, { signsFrom: { $gt: clock.now() } })).toBe(0);
  });

  it('leaves signing keys of algorithms that clients asked for, and of a withdrawal', async () => {
    const there = await keysOfAProcess(undefined, -hour);
    await there.keys.maintain();
    await there.keys.signing('RS256');
    await there.keys.withdrawAll(system);
    const here = await keysOfAProcess();
    for (const alg of ['ES512', 'EdDSA', 'RS256'] as const) {
      expect((await here.keys.signing(alg)).kid).toBe((await there.keys.signing(alg)).kid);
    }
  });

  it('keeps the active key of a rotation in the meantime, and its successor published', async () => {
    const { keys } = await keysOfAProcess();
    await keys.maintain();
    const active = (await keys.signing('ES512')).kid;
    const there = await keysOfAProcess(undefined, -100 * day);
    await there.keys.maintain();
    const here = await keysOfAProcess();
    expect((await here.keys.signing('ES512')).kid).toBe(active);
    expect(await kids(here.keys)).toHaveLength(4);
  });

  it('does not keep a process from reading the key of a token', async () => {
    const { keys } = await keysOfAProcess();
    await keys.maintain();
    expect(await keys.find('unknown')).toBeUndefined();
    clock.turn(-hour);
    const there = await keysOfAProcess();
    await there.keys.withdrawAll(system);
    const { kid } = await there.keys.signing('ES512');
    await keys.published();
    expect((await keys.find(kid))?.kid).toBe(kid);
    clock.turn(hour);
  });
});

describe('the withdrawal of a successor', () => {
  const hour = 3600;

  /** The key to withdraw, at some hours after a rotation. */
  const withdrawals: Record<string, (keys: Keys) => Promise<string>> = {
    'that does not sign yet': async (keys) => {
      clock.turn(12 * hour);
      const active = await keys.signing('ES512');
      return (await keys.published()).find(({ alg, kid }) => alg === 'ES512' && kid !== active.kid)?.kid as string;
    },
    'that signs, while its predecessor is published': async (keys) => {
      clock.turn(30 * hour);
      return (await keys.signing('ES512')).kid;
    },
    'that signs, with another to follow': async (keys) => {
      clock.turn(30 * hour);
      await keys.rotate(system);
      clock.turn(6 * hour);
      return (await keys.signing('ES512')).kid;
    },
  };

  it.each(Object.entries(withdrawals))(
    '%s leaves a signing key, and published keys for its tokens',
    async (_, find) => {
      const { keys } = await keysOfAProcess();
      const signer = new Signer({ keys, clock, issuer: 'https://id.example.com' });
      let tokens: { token: string; expires: number }[] = [];
      const live = () => tokens.filter(({ expires }) => expires > clock.now().getTime());
      const use = async () => {
        const expires = clock.now().getTime() + day * 1000;
        const token = await signer.sign('id-token', { sub: 'x', aud: 'y', exp: Math.floor(expires / 1000) });
        tokens = [...live(), { token, expires }];
        const jwks = createLocalJWKSet(await keys.jwks());
        for (const one of tokens) await compactVerify(one.token, jwks);
      };
      await keys.maintain();
      clock.turn(10 * day);
      await use();
      await keys.rotate(system);
      const withdrawn = await find(keys);
      await use();
      await keys.withdraw(withdrawn, system);
      tokens = tokens.filter(({ token }) => decodeProtectedHeader(token).kid !== withdrawn);
      const pass = async (count: number, step: number) => {
        for (let passed = 0; passed < count; passed++) {
          await use();
          clock.turn(step);
          await keys.maintain();
        }
      };
      await pass(25, 4 * hour);
      expect(await kids(keys)).toHaveLength(2);
      await pass(110, 20 * hour);
    },
  );
});

describe('an access token of this process', () => {
  it('needs no verification of its signature, but key, issuer, audience and time are checked', async () => {
    const { keys } = await keysOfAProcess();
    await keys.maintain();
    const stranger = (await generateKeyPair('EdDSA')).publicKey;
    const unverifiable = async () => (await keys.published()).map((key) => ({ ...key, verifyKey: stranger }));
    const issuer = 'https://id.example.com';
    const processOf = (published: Keys['published']) =>
      new Signer({
        keys: {
          published,
          find: async (kid) => (await published()).find((key) => key.kid === kid),
          signing: (alg) => keys.signing(alg),
        },
        clock,
        issuer,
      });
    const [here, there] = [processOf(unverifiable), processOf(unverifiable)];
    const exp = Math.floor(clock.now().getTime() / 1000) + 300;
    const token = await here.sign('access-token', { sub: 'x', aud: issuer, exp, scope: undefined });
    expect(await here.verifyAccessToken(token, here.base)).toStrictEqual({ iss: issuer, sub: 'x', aud: issuer, exp });
    expect(await there.verifyAccessToken(token, there.base)).toBeNull();
    expect(await here.verifyAccessToken(token, { ...here.base, url: 'https://other.example.com' })).toBeNull();
    const forOther = await here.sign('access-token', { sub: 'x', aud: 'https://api.example.com', exp });
    expect(await here.verifyAccessToken(forOther, here.base)).toBeNull();
    const idToken = await here.sign('id-token', { sub: 'x', aud: issuer, exp });
    expect(await here.verifyAccessToken(idToken, here.base)).toBeNull();

    const late = await here.sign('access-token', { sub: 'x', aud: issuer, exp: exp + 3600 });
    clock.turn(300);
    expect(await here.verifyAccessToken(token, here.base)).toBeNull();
    expect(await here.verifyAccessToken(late, here.base)).not.toBeNull();
    await keys.withdraw((await keys.signing('EdDSA')).kid, system);
    expect(await here.verifyAccessToken(late, here.base)).toBeNull();
  });
});

describe('the keys at rest', () => {
  it('cannot be opened without the master key; the error names it', async () => {
    await (await keysOfAProcess()).keys.maintain();
    const stranger = await keysOfAProcess(new Uint8Array(32).fill(1));
    await expect(stranger.keys.published()).rejects.toThrow(VaultError);
    await expect(stranger.keys.published()).rejects.toThrow('Set MASTER_KEY to the one it was created with');
  });

  it('get no successor under another master key: no server could open it', async () => {
    const { keys, db } = await keysOfAProcess();
    await keys.maintain();
    const before = await db.reader().find(SigningKey, {}, { orderBy: { id: 'asc' } });
    const stranger = (await keysOfAProcess(new Uint8Array(32).fill(1))).keys;
    await expect(stranger.rotate(system)).rejects.toThrow(VaultError);
    await expect(stranger.withdraw(before[0]?.id as string, system)).rejects.toThrow(VaultError);
    await expect(stranger.withdrawAll(system)).rejects.toThrow(VaultError);
    clock.turn(89 * day);
    await expect(stranger.maintain()).rejects.toThrow(VaultError);
    expect(await db.reader().find(SigningKey, {}, { orderBy: { id: 'asc' } })).toEqual(before);
  });

  it('are sealed in the database, each for its own row', async () => {
    const { keys, db } = await keysOfAProcess();
    await keys.maintain();
    const loaded = await keys.signing('EdDSA');
    await expect(exportPKCS8(loaded.verifyKey)).rejects.toThrow();
    expect(inspect(loaded, { depth: null, showHidden: true })).not.toMatch(/PRIVATE|PrivateKey/);
    const [one, other] = await db.reader().find(SigningKey, {}, { orderBy: { id: 'asc' } });
    const bytes = Buffer.from((one as SigningKey).sealedPrivateKey);
    expect(bytes.toString('latin1')).not.toContain('PRIVATE KEY');
    await expect(importPKCS8(bytes.toString(), 'EdDSA')).rejects.toThrow();
    const vault = new Vault(new Uint8Array(32), systemRandom);
    expect(() => vault.open('signing-key', (other as SigningKey).id, bytes)).toThrow('belongs to another record');
    expect(() => vault.open('totp', (one as SigningKey).id, bytes)).toThrow(VaultError);
  });
});
