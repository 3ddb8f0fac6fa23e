import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** `fetch` that resolves every host name to this machine; the built-in one cannot set the Host header. Follows no redirects. */
export async function fetchHere(address: string, init: RequestInit = {}): Promise<Response> {
  const { hostname, host, port, pathname, search } = new URL(address);
  if (hostname === '127.0.0.1' || hostname === 'localhost') return fetch(address, init);
  const sent = new Request('http://127.0.0.1', init);
  const headers = { ...Object.fromEntries(sent.headers), ...Object.fromEntries(new Headers(init.headers)), host };
  const body = Buffer.from(await sent.arrayBuffer());
  const received = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: `${pathname}${search}`, method: sent.method, headers };
    request(options, resolve).on('error', reject).end(body);
  });
  const { statusCode: status = 0, rawHeaders } = received;
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as [string, string]] : [],
  );
  const content = await buffer(received);
  const response = new Response(content.length === 0 ? null : new Uint8Array(content), { status, headers: pairs });
  Object.defineProperty(response, 'url', { value: address });
  return response;
}
