import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLatchkey, memoryStorage } from './index.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a secure store that once did not respond', () => {
  it('works at the next try', async () => {
    const storage = memoryStorage();
    const getItem = vi.fn(storage.getItem).mockReturnValueOnce(new Promise(() => undefined));
    const latchkey = createLatchkey({ origin: 'https://app.example.com', storage: { ...storage, getItem } });
    const settings = { apiKey: 'lk_pk_test', baseUrl: 'https://id.example.com' };
    const first = latchkey.init({ ...settings, options: { timeoutMs: 100 } });
    await expect(first).rejects.toMatchObject({ code: 'TIMEOUT', category: 'retryable' });
    expect(await latchkey.init(settings)).toMatchObject({ status: 'INITIALIZED' });
  });
});

describe('a runtime without navigator, such as Node 20', () => {
  it('reports that the service cannot be reached, and signs out', async () => {
    vi.stubGlobal('navigator', undefined);
    vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('fetch failed')));
    const latchkey = createLatchkey({ origin: 'https://app.example.com', storage: memoryStorage() });
    await latchkey.init({ apiKey: 'lk_pk_test', baseUrl: 'https://id.example.com' });
    const error = { code: 'NETWORK', category: 'retryable' };
    await expect(latchkey.authenticate('ada@example.com')).rejects.toMatchObject(error);
    expect(await latchkey.signOut()).toMatchObject({ status: 'SIGNED_OUT' });
  });
});
