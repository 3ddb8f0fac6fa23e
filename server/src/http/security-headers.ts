import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

export type Headers = readonly (readonly [name: string, value: string])[];

/** Helmet's headers, computed once: they are the same in every response. */
export function securityHeaders(issuer: string): Headers {
  const set = helmet({
    // Set per page.
    contentSecurityPolicy: false,
    // Relying parties may open sign-in in a popup and wait for it.
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
