import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Auth, type AuthConfig } from '@auth/core';

/** Auth.js as a relying party, under `/auth`. */
export function authJs(origin: string, issuer: string, clientId: string): RequestListener {
  const config: AuthConfig = {
    basePath: '/auth',
    secret: 'a secret that only this relying party uses',
    trustHost: true,
    providers: [
      {
        id: 'latchkey',
        name: 'Latchkey',
        type: 'oidc',
        issuer,
        clientId,
        client: { token_endpoint_auth_method: 'none', id_token_signed_response_alg: 'ES512' },
        checks: ['pkce', 'state', 'nonce'],
      },
    ],
    callbacks: {
      session: ({ session, token }) => ({ ...session, subject: token.sub }),
    },
  };
  return (req, res) => {
    if (!req.url?.startsWith('/auth')) res.end('Relying party');
    else void answer(origin, config, req, res);
  };
}

async function answer(origin: string, config: AuthConfig, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = req.method === 'POST' ? Buffer.concat(await req.toArray()) : null;
  const headers = Object.entries(req.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  const request = new Request(new URL(req.url ?? '/', origin), { method: req.method ?? 'GET', headers, body });
  const response = await Auth(request, config);
  res.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value);
  res.setHeader('Set-Cookie', response.headers.getSetCookie());
  res.end(Buffer.from(await response.arrayBuffer()));
}
