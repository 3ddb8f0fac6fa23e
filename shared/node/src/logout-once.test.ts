import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logoutOnce } from './logout-once.ts';
import type { LogoutClaims } from './logout-token.ts';
import { MemoryReplayStore, type ReplayStore } from './replay-store.ts';

const claims: LogoutClaims = { iss: 'https://id.example.com', aud: 'c', iat: 1, jti: 'j', sub: 'u', events: {} };
const never = () => new Promise<void>(() => {});
const down = new Error('the session store is down');
const failing = () => Promise.reject(down);

let store: MemoryReplayStore;
let end: ReturnType<typeof vi.fn<() => void>>;

beforeEach(() => {
  store = new MemoryReplayStore();
  end = vi.fn<() => void>();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('logoutOnce', () => {
  it('gives repeats the outcome of the call in progress', async () => {
    const once = logoutOnce(store);
    const outcomes = await Promise.allSettled([once(claims, failing), once(claims, end), once(claims, end)]);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: down })));
    expect(end).not.toHaveBeenCalled();
  });

  it('ends once, even for later repeats in other processes', async () => {
    for (const once of [logoutOnce(store), logoutOnce(store), logoutOnce(store)]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('handles another token in the meantime', async () => {
    const once = logoutOnce(store);
    void once(claims, never);
    await once({ ...claims, jti: 'other' }, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('calls again after a failure, until one call has succeeded', async () => {
    for (const once of [logoutOnce(store), logoutOnce(store)]) await expect(once(claims, failing)).rejects.toBe(down);
    for (const once of [logoutOnce(store), logoutOnce(store)]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('calls again after a crash, until one call has succeeded', async () => {
    void logoutOnce(store)(claims, never);
    await expect(logoutOnce(store)(claims, failing)).rejects.toBe(down);
    for (const once of [logoutOnce(store), logoutOnce(store)]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('counts a token as used if another process succeeds before the first call fails', async () => {
    let fail: (error: Error) => void = () => {};
    const first = logoutOnce(store)(claims, () => new Promise((_done, failed) => (fail = failed)));
    await logoutOnce(store)(claims, end);
    fail(down);
    await expect(first).rejects.toBe(down);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('calls again in the same process after a minute without an outcome', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const once = logoutOnce(store);
    void once(claims, never);
    vi.setSystemTime(Date.now() + 60_000);
    for (const _ of [1, 2]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it.each<[keyof ReplayStore, number]>([
    ['remember', 1],
    ['remember', 2],
    ['forget', 1],
  ])('reports a store whose %s fails at call %i, and can be retried', async (method, at) => {
    const works = store[method].bind(store);
    const failed = vi.spyOn(store, method);
    for (let call = 1; call < at; call++) failed.mockImplementationOnce(works as never);
    failed.mockImplementationOnce(() => Promise.reject(new Error('down')) as never);
    await expect(logoutOnce(store)(claims, end)).rejects.toMatchObject({ code: 'REPLAY_STORE_FAILED' });
    end.mockClear();
    for (const once of [logoutOnce(store), logoutOnce(store)]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('can be retried if the store fails after a failure', async () => {
    vi.spyOn(store, 'forget').mockRejectedValueOnce(new Error('down') as never);
    await expect(logoutOnce(store)(claims, failing)).rejects.toBe(down);
    for (const once of [logoutOnce(store), logoutOnce(store)]) await once(claims, end);
    expect(end).toHaveBeenCalledTimes(1);
  });
});
