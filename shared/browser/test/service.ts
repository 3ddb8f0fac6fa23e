import { createHash, createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as received. */
export type Received = {
  step: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  body: Record<string, unknown>;
  /** The proof, with verified signature and body hash; absent if none was sent. */
  proof?: { header: Record<string, unknown>; payload: Record<string, unknown> };
};
type Reply = {
  http?: number;
  headers?: Record<string, string>;
  /** A string is sent as is, not as JSON. */
  body: Record<string, unknown> | string;
  /** Never responds. */
  hang?: boolean;
};

/** Fake service over real HTTP: each step returns its next reply, and the last one repeatedly. Verifies every proof. */
export async function startService(replies: Record<string, Reply[]>) {
  const received: Received[] = [];
  const queues = Object.fromEntries(Object.entries(replies).map(([step, queue]) => [step, [...queue]]));
  const registered = new Map<string, JsonWebKey>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The page cancelled its request.
      return;
    }
    const raw = Buffer.concat(chunks);
    const step = request.url!.replace('/v1/signin/', '');
    const entry: Received = { step, headers: request.headers, raw, body: JSON.parse(raw.toString()) };
    const proof = request.headers['device-proof'];
    try {
      if (proof) entry.proof = check(String(proof), raw, registered);
    } catch (error) {
      response.writeHead(500).end(String(error));
      return;
    }
    received.push(entry);
    const queue = step === 'challenge' ? (queues[step] ?? [challenge]) : queues[step]!;
    const reply = queue.length > 1 ? queue.shift()! : queue[0]!;
    if (reply.hang) return;
    response.writeHead(reply.http ?? 200, { 'Content-Type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Requests of one step, in order. */
    of: (step: string) => received.filter((entry) => entry.step === step),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const application = { issuer: 'https://id.example.com', projectId: 'project-1', clientId: 'client-1' };
/** Response to a challenge; without `time`, as from a service that sends none. */
export const challengeBody = {
  txn: 'txn-1',
  nonce: 'nonce-0',
  expires_in: 600,
  issuer: application.issuer,
  project_id: application.projectId,
  client_id: application.clientId,
};
const challenge: Reply = { body: challengeBody };

/** An error response of the service. */
export const refusal = (code: string, http: number, more: Record<string, unknown> = {}, nonce?: string): Reply => ({
  http,
  body: {
    status: 'ERROR',
    error: { code, category: 'user_action', message: `${code} happened`, request_id: 'req-1', ...more },
    ...(nonce ? { nonce } : {}),
  },
});

function check(proof: string, raw: Buffer, registered: Map<string, JsonWebKey>): Received['proof'] {
  const [head, claims, signature] = proof.split('.') as [string, string, string];
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const [header, payload] = [read(head), read(claims)];
  const jwk = (header['jwk'] as JsonWebKey | undefined) ?? registered.get(header['kid'] as string);
  if (!jwk) throw new Error('proof with an unregistered key');
  const { crv, kty, x, y } = jwk;
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  registered.set(kid, jwk);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const options = { key, dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', Buffer.from(`${head}.${claims}`), options, Buffer.from(signature, 'base64url')))
    throw new Error('proof with an invalid signature');
  if (payload['bh'] !== createHash('sha256').update(raw).digest('base64url'))
    throw new Error('proof with a different body hash');
  return { header, payload };
}
