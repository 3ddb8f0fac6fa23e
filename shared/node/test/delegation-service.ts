import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactEncrypt, compactDecrypt, compactVerify, SignJWT } from 'jose';
import { json, type Listening, listen, textOf } from './listen.ts';

const pair = (type: 'ed25519' | 'x25519') => {
  const { privateKey, publicKey } = generateKeyPairSync(type as 'ed25519');
  return {
    privateKey,
    publicKey,
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};

export const makeDelegationKeys = () => ({ sign: pair('ed25519'), encrypt: pair('x25519') });
type DelegationKeys = ReturnType<typeof makeDelegationKeys>;

interface Received {
  text: string;
  outer: Record<string, unknown>;
  inner: Record<string, unknown>;
  payload: Record<string, unknown>;
}

/** Parts of a response, so that tests can alter each. */
export interface ResponseParts {
  status: number;
  body: object;
  claims?: Record<string, unknown>;
  inner?: Record<string, unknown>;
  outer?: Record<string, unknown>;
  signWith?: KeyObject;
  encryptTo?: KeyObject;
  /** Encrypted instead of a JWS. */
  raw?: string;
}

/** Service side of delegation, implemented independently from its specification, with real keys over real HTTP. */
export interface TestService extends Listening {
  idp: DelegationKeys;
  sp: DelegationKeys;
  clientId: string;
  projectId: string;
  apiKey: string;
  received: Received[];
  discoveries: number;
  answer: (received: Received) => ResponseParts;
  override?: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  seal(received: Received, parts: ResponseParts): Promise<string>;
}

export async function startService(): Promise<TestService> {
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    if (service.override) return service.override(req, res);
    if (req.url !== '/v1/delegation') return json(res, 404, {});
    if (req.headers['x-api-key'] !== service.apiKey) return json(res, 401, { error: { code: 'INVALID_CLIENT' } });
    if (req.method === 'GET') {
      service.discoveries += 1;
      return json(res, 200, { issuer: service.url, project_id: service.projectId, client_id: service.clientId });
    }
    const received = await open(await textOf(req));
    service.received.push(received);
    const text = await service.seal(received, service.answer(received));
    return void res.writeHead(200, { 'Content-Type': 'application/jose' }).end(text);
  };
  const open = async (text: string): Promise<Received> => {
    const jwe = await compactDecrypt(text, service.idp.encrypt.privateKey);
    const jws = await compactVerify(jwe.plaintext, service.sp.sign.publicKey);
    const payload = JSON.parse(Buffer.from(jws.payload).toString()) as Record<string, unknown>;
    return { text, outer: { ...jwe.protectedHeader }, inner: { ...jws.protectedHeader }, payload };
  };
  const listening = await listen((req, res) => void handle(req, res));
  const service: TestService = {
    ...listening,
    idp: makeDelegationKeys(),
    sp: makeDelegationKeys(),
    clientId: '0193b0a1-0000-7000-8000-000000000001',
    projectId: '0193b0a1-0000-7000-8000-00000000000a',
    apiKey: `lk_sk_${'k'.repeat(43)}`,
    received: [],
    discoveries: 0,
    answer: () => ({ status: 200, body: {} }),
    seal: async ({ payload, text }, parts) => {
      const iat = Math.floor(Date.now() / 1000);
      const claims = {
        iss: payload['aud'],
        aud: payload['iss'],
        req_jti: payload['jti'],
        req_hash: createHash('sha256').update(text).digest('base64url'),
        iat,
        exp: iat + 60,
        status: parts.status,
        body: parts.body,
        ...parts.claims,
      };
      const signed =
        parts.raw ??
        (await new SignJWT(claims as never)
          .setProtectedHeader({ alg: 'EdDSA', typ: 'delegation-res+jwt', ...parts.inner })
          .sign(parts.signWith ?? service.idp.sign.privateKey));
      return new CompactEncrypt(Buffer.from(signed))
        .setProtectedHeader({
          alg: 'ECDH-ES',
          enc: 'A256GCM',
          typ: 'delegation-res+jwe',
          cty: 'JWT',
          ...parts.outer,
        })
        .encrypt(parts.encryptTo ?? service.sp.encrypt.publicKey);
    },
  };
  return service;
}
