import { afterEach, describe, expect, it, vi } from 'vitest';
import { post, sendAhead } from './request.ts';
import { settings } from './settings.ts';

let sent: string[] = [];

/** A server that responds with the number of the request. */
function serve(): void {
  sent = [];
  vi.stubGlobal('fetch', async (_path: string, { body }: { body: string }) => {
    sent.push(body);
    return new Response(String(sent.length));
  });
}
const answer = async (body: object) => (await post(body)).response.text();

afterEach(() => vi.unstubAllGlobals());

describe('a request that was sent ahead', () => {
  it('uses the early response once; later requests are sent', async () => {
    serve();
    sendAhead({ query: 'a' });
    expect(sent).toEqual(['{"query":"a"}']);
    expect(await answer({ query: 'b' })).toBe('2');
    expect(await answer({ query: 'a' })).toBe('1');
    expect(await answer({ query: 'a' })).toBe('3');
  });

  it('rejects only in the call that uses it', async () => {
    vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('offline')));
    sendAhead({ query: 'a' });
    await expect(post({ query: 'a' })).rejects.toThrow('offline');
  });

  it('names the account of the page', async () => {
    const headers: unknown[] = [];
    vi.stubGlobal('fetch', async (_path: string, init: RequestInit) => {
      headers.push(init.headers);
      return new Response('');
    });
    await post({ query: 'a' });
    expect(headers).toEqual([expect.objectContaining({ 'X-Latchkey-Account': settings.account })]);
  });
});
