import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

export type Headers = readonly (readonly [name: string, value: string])[];

/** What helmet sets: the same in every answer, so it is made once. */
export function securityHeaders(issuer: string): Headers {
  const set = helmet({
    // Each page sets its own.
    contentSecurityPolicy: false,
    // A relying party may open the sign-in in a popup and wait for it.
    crossOriginOpenerPolicy: false,
    strictTransportSecurity: issuer.startsWith('https://'),
  });
  const headers: [string, string][] = [];
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  res.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return res;
  };
  set(res.req, res, () => undefined);
  return headers;
}
