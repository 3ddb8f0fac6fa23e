import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SessionStore } from './session.ts';

/** A back end with one session. */
let server: Server;
let base: string;
let session: object | null;
let refusal: { status: number; code: string } | undefined;
let received: { path: string; body: string }[];
/** Holds back the next response of a path until it is called. */
let delayed: { path: string; release: Promise<void> } | undefined;

const ada = { sub: 'user-1', user: { email: 'ada@example.com' }, amr: [], signedInAt: 1, expiresAt: 2 };

beforeEach(async () => {
  session = null;
  refusal = undefined;
  received = [];
  delayed = undefined;
  server = createServer(async (req, res) => {
    const path = req.url ?? '';
    // A page that left has no body.
    const body = await textOf(req).catch(() => '');
    received.push({ path, body });
    const reply = (status: number, value?: unknown) => {
      res
        .writeHead(status, { 'Content-Type': 'application/json' })
        .end(value === undefined ? '' : JSON.stringify(value));
    };
    if (refusal) return reply(refusal.status, { code: refusal.code });
    if (path === '/auth/sign-in') {
      session = ada;
      return reply(204);
    }
    if (path === '/auth/sign-out') {
      session = null;
      return reply(200, { location: 'https://id.example.com/oauth2/end_session' });
    }
    const known = session;
    if (delayed?.path === path) {
      const { release } = delayed;
      delayed = undefined;
      await release;
    }
    return reply(200, known);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
}

describe('the session of a page', () => {
  it('begins with the session of the server', () => {
    expect(new SessionStore(base).get()).toEqual({ status: 'loading', session: undefined });
    expect(new SessionStore(base, null).get().status).toBe('signed-out');
    expect(new SessionStore(base, ada).get()).toEqual({ status: 'signed-in', session: ada });
  });

  it('begins for a code, and is shown when the form can be removed', async () => {
    const store = new SessionStore(base, null);
    let changes = 0;
    store.subscribe(() => void changes++);
    const show = await store.begin({ code: 'c', codeVerifier: 'v' });
    expect(received).toEqual([{ path: '/auth/sign-in', body: '{"code":"c","code_verifier":"v"}' }]);
    // As when the user returns from saving the recovery codes in a password manager.
    await store.refresh();
    expect([store.get().status, changes]).toEqual(['signed-out', 0]);
    await show();
    await show();
    expect([store.get(), changes]).toEqual([{ status: 'signed-in', session: ada }, 1]);
  });

  it('is shown by another tab as soon as it has begun', async () => {
    vi.stubGlobal('document', new EventTarget());
    const [store, other] = [new SessionStore(base, null), new SessionStore(base, null)];
    const ends = [store.connect(), other.connect()];
    const isShown = new Promise<void>((resolve) => other.subscribe(resolve));
    await store.begin({ code: 'c' });
    await isShown;
    expect([store.get().status, other.get().status]).toEqual(['signed-out', 'signed-in']);
    for (const end of ends) end();
    vi.unstubAllGlobals();
  });

  it('ends, and returns the logout page of the service', async () => {
    session = ada;
    const store = new SessionStore(base, ada as never);
    expect(await store.signOut()).toBe('https://id.example.com/oauth2/end_session');
    expect(store.get().status).toBe('signed-out');
  });

  it('shows no response that is older than a sign-out', async () => {
    session = ada;
    const store = new SessionStore(base, ada as never);
    let release = () => {};
    delayed = { path: '/auth/session', release: new Promise((done) => (release = done)) };
    const slow = store.refresh();
    await vi.waitFor(() => expect(received).toHaveLength(1));
    await store.signOut();
    release();
    await slow;
    expect(store.get().status).toBe('signed-out');
  });

  it('shows the response to the last of several requests', async () => {
    session = ada;
    const store = new SessionStore(base, null);
    let release = () => {};
    delayed = { path: '/auth/session', release: new Promise((done) => (release = done)) };
    const slow = store.refresh();
    await vi.waitFor(() => expect(received).toHaveLength(1));
    session = { ...ada, sub: 'user-2' };
    await store.refresh();
    release();
    await slow;
    expect(store.get().session?.sub).toBe('user-2');
  });

  it('does not change if the back end refuses or is unreachable', async () => {
    const store = new SessionStore(base, ada as never);
    refusal = { status: 503, code: 'REVOCATIONS_FAILED' };
    await expect(store.refresh()).rejects.toMatchObject({ status: 503, code: 'REVOCATIONS_FAILED' });
    await expect(store.signOut()).rejects.toMatchObject({ status: 503 });
    await expect(store.begin({ code: 'c' })).rejects.toMatchObject({ name: 'SessionError' });
    const lost = new SessionStore('http://127.0.0.1:1/auth', ada as never);
    await expect(lost.refresh()).rejects.toMatchObject({ status: 0 });
    expect([store.get().status, lost.get().status]).toEqual(['signed-in', 'signed-in']);
    refusal = undefined;
    await store.refresh();
    expect(store.get().status).toBe('signed-out');
  });
});
