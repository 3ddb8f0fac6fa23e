import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  authenticate,
  createLatchkey,
  createPkce,
  init,
  initialize,
  type LatchkeyConfig,
  LatchkeyError,
} from './index.ts';

describe('module outside a browser', () => {
  it('imports, and fails only when used', async () => {
    await expect(init('lk_pk_test', 'https://id.example.com')).rejects.toMatchObject({ code: 'NOT_A_BROWSER' });
  });
});

describe('init', () => {
  it('must come first', async () => {
    const error = await authenticate('ada@example.com').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', category: 'fatal' });
  });

  it.each([
    ['no key', { apiKey: '' }],
    ['a secret key', { apiKey: 'lk_sk_0123' }],
    ['an invalid baseUrl', { apiKey: 'lk_pk_test', baseUrl: 'ftp://id.example.com' }],
    ['another protocol version', { apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { cryptoVersion: 'v2' } }],
    ['a timeout of 0', { apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { timeoutMs: 0 } }],
    [
      'a timeout beyond the limit of timers',
      { apiKey: 'lk_pk_test', options: { timeoutMs: Number.POSITIVE_INFINITY } },
    ],
    ['another kind of key', { apiKey: 'pk_test', baseUrl: 'https://a.b' }],
    ['a key with whitespace', { apiKey: 'lk_pk_test\n', baseUrl: 'https://a.b' }],
    ['a baseUrl that is not text', { apiKey: 'lk_pk_test', baseUrl: 7 as never }],
    ['an invalid signal', { apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { signal: {} as never } }],
    ['null', null as never],
    ['no argument', undefined as never],
  ])('rejects %s', async (_, config) => {
    await expect(initialize(config)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', category: 'fatal' });
    await expect(createLatchkey().init(config)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('createPkce (RFC 7636)', () => {
  it('gives a fresh verifier of 43 characters and its S256 challenge', async () => {
    const [one, two] = [await createPkce(), await createPkce()];
    expect(one.codeVerifier).toMatch(/^[\w-]{43}$/);
    expect(one.codeVerifier).not.toBe(two.codeVerifier);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(one.codeVerifier));
    expect(one.codeChallenge).toBe(Buffer.from(digest).toString('base64url'));
    expect(one.codeChallengeMethod).toBe('S256');
  });
});

/** An IndexedDB that is empty. */
const emptyStorage = {
  open() {
    const later = (act: () => void) => void setTimeout(act);
    const database = {
      close() {},
      transaction() {
        const transaction = { objectStore: () => ({ get: () => ({}) }), oncomplete: () => {} };
        later(() => transaction.oncomplete());
        return transaction;
      },
    };
    const request = { result: database, onsuccess: () => {} };
    later(() => request.onsuccess());
    return request;
  },
};

describe('every operation', () => {
  beforeEach(() => {
    vi.stubGlobal('window', {});
    vi.stubGlobal('location', { origin: 'https://app.example.com', href: 'https://app.example.com/' });
    vi.stubGlobal('indexedDB', emptyStorage);
  });
  afterEach(() => vi.unstubAllGlobals());

  const arguments_ = [
    [],
    [null],
    [undefined],
    [7],
    ['ada@', null],
    [{ signal: 'no' }],
    [{ userid: 7n }],
    [{ userid: 'a' }],
  ];

  it.each(Object.keys(createLatchkey()))(
    '%s fails with LatchkeyError only, regardless of its arguments',
    async (name) => {
      const client = createLatchkey();
      const operation = async (given: unknown[]) =>
        (client as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(...given);
      const fails = async () => {
        for (const given of arguments_) {
          const error = await operation(given).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          if (error !== undefined) expect(error).toBeInstanceOf(LatchkeyError);
          expect((error as LatchkeyError | undefined)?.code).not.toBe('INTERNAL_ERROR');
        }
        return operation([null]);
      };
      if (!name.startsWith('init')) await expect(fails()).rejects.toMatchObject({ code: 'NOT_INITIALIZED' });
      await client.init('lk_pk_test', 'https://id.example.com');
      const returnsUndefined = name === 'lastUser';
      if (returnsUndefined) expect(await fails()).toBeUndefined();
      else await expect(fails()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', category: 'fatal' });
    },
  );

  it.each([{ options: null }, { options: { cryptoVersion: null, timeoutMs: null, signal: null } }])(
    'treats null as absent: init with %o',
    async (given) => {
      const config = { apiKey: 'lk_pk_test', baseUrl: 'https://id.example.com', ...given } as LatchkeyConfig;
      expect(await createLatchkey().init(config)).toMatchObject({ status: 'INITIALIZED' });
    },
  );

  it('wraps an error of the browser, with its cause', async () => {
    vi.stubGlobal('window', {});
    vi.stubGlobal('indexedDB', undefined);
    await expect(init('lk_pk_test', 'https://a.b')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    vi.stubGlobal('crypto', {});
    await expect(init('lk_pk_test', 'https://a.b')).rejects.toMatchObject({ code: 'INSECURE_CONTEXT' });
    await expect(createPkce()).rejects.toMatchObject({ code: 'INSECURE_CONTEXT' });
  });
});

describe('storage that does not respond', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('ends init after timeoutMs, and is closed when it opens later', async () => {
    vi.useFakeTimers();
    const request: { onsuccess?: () => void; result?: unknown } = {};
    vi.stubGlobal('window', {});
    vi.stubGlobal('indexedDB', { open: () => request });
    const pending = init({ apiKey: 'lk_pk_test', baseUrl: 'https://a.b', options: { timeoutMs: 700 } });
    const outcomes: unknown[] = [];
    pending.catch((error) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(699);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toMatchObject([{ code: 'TIMEOUT', category: 'retryable' }]);
    request.result = { close: vi.fn() };
    request.onsuccess?.();
    await vi.advanceTimersByTimeAsync(0);
    expect((request.result as { close: unknown }).close).toHaveBeenCalledOnce();
  });

  it('ends init when the signal aborts', async () => {
    vi.stubGlobal('window', {});
    vi.stubGlobal('indexedDB', { open: () => ({}) });
    const controller = new AbortController();
    const pending = init('lk_pk_test', 'https://a.b', { signal: controller.signal });
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'ABORTED', category: 'user_action' });
    await expect(init('lk_pk_test', 'https://a.b', { signal: controller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });
});

describe('LatchkeyError', () => {
  it('is recognized across copies of the SDK, and subclasses keep their own identity', async () => {
    vi.resetModules();
    const other = await import('./index.ts');
    expect(other.LatchkeyError).not.toBe(LatchkeyError);
    const error = new other.LatchkeyError('NETWORK', 'retryable', 'm');
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(error).toBeInstanceOf(Error);
    class Own extends LatchkeyError {}
    expect(error).not.toBeInstanceOf(Own);
    expect(new Own('NETWORK', 'retryable', 'm')).toBeInstanceOf(LatchkeyError);
    for (const none of [new Error('m'), null, undefined, 'LatchkeyError', { name: 'LatchkeyError' }])
      expect(none instanceof LatchkeyError).toBe(false);
  });
});
