import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { deviceProofHeader, deviceProofType, signinFlowHeader } from '@latchkey/contracts';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { fetchHere } from './fetch-here.ts';

/** A browser's device key. */
export interface DeviceKey {
  jkt: string;
  jwk: JWK;
  privateKey: KeyObject;
}

export async function newDeviceKey(): Promise<DeviceKey> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = pair.publicKey.export({ format: 'jwk' }) as JWK;
  return { jkt: await calculateJwkThumbprint(jwk), jwk, privateKey: pair.privateKey };
}

/** The response to a step. */
export interface StepAnswer {
  httpStatus: number;
  headers: Headers;
  status: string;
  text: string;
  [member: string]: any;
}

/** The caller: a page of an application with its API key, or the hosted page with its flow and cookies. */
export interface Credential {
  origin: string;
  apiKey?: string;
  flow?: string;
  cookie?: string;
}

export interface ProofOptions {
  /** `use` refers to the key by thumbprint, `registration` contains it. */
  kind: 'use' | 'registration';
  key?: DeviceKey;
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
}

/** A sign-in as a page runs it, step by step; tests can modify every part of a step. */
export class SigninPage {
  readonly key: DeviceKey;
  txn = '';
  nonce = '';
  codeChallenge: string | undefined;
  /** Seconds since the epoch. */
  now: () => number;
  private readonly url: string;
  private readonly credential: Credential;
  private context = { issuer: '', projectId: '', clientId: '' };

  constructor(url: string, credential: Credential, key: DeviceKey, now: () => number) {
    this.url = url;
    this.credential = credential;
    this.key = key;
    this.now = now;
  }

  async challenge(body: Record<string, unknown> = { jkt: this.key.jkt }): Promise<StepAnswer> {
    this.codeChallenge = body['code_challenge'] as string | undefined;
    const answer = await this.post('challenge', body);
    if (answer['code_challenge_method']) this.codeChallenge ??= body['code_challenge_if_required'] as string;
    this.txn = answer['txn'] ?? '';
    this.context = { issuer: answer['issuer'], projectId: answer['project_id'], clientId: answer['client_id'] };
    return answer;
  }

  /** @param proof the device proof; undefined: none */
  async step(
    name: string,
    fields: Record<string, unknown>,
    proof?: ProofOptions | 'use' | 'registration',
  ): Promise<StepAnswer> {
    const body = { txn: this.txn, ...fields };
    const how = typeof proof === 'string' ? { kind: proof } : proof;
    return this.post(name, body, how && { [deviceProofHeader]: this.prove(name, JSON.stringify(body), how) });
  }

  prove(act: string, body: string, { kind, key = this.key, claims = {}, header = {} }: ProofOptions): string {
    const { issuer, projectId, clientId } = this.context;
    const named = kind === 'use' ? { kid: key.jkt } : { jwk: key.jwk };
    return signJws(
      { typ: deviceProofType, alg: 'ES256', ...named, ...header },
      {
        act,
        aud: `${issuer}/${projectId}`,
        cid: clientId,
        org: this.credential.origin,
        txn: this.txn,
        nonce: this.nonce,
        cc: this.codeChallenge,
        bh: createHash('sha256').update(body).digest('base64url'),
        iat: this.now(),
        jti: randomBytes(16).toString('base64url'),
        ...claims,
      },
      key,
    );
  }

  async post(step: string, body: unknown, headers: Record<string, string> = {}): Promise<StepAnswer> {
    const { origin, apiKey, flow, cookie } = this.credential;
    const response = await fetchHere(`${this.url}/v1/signin/${step}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: origin,
        ...(apiKey && { 'X-Api-Key': apiKey }),
        ...(flow && { [signinFlowHeader]: flow }),
        ...(cookie && { Cookie: cookie }),
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const answer = { ...JSON.parse(text), text, httpStatus: response.status, headers: response.headers };
    if (answer.nonce) this.nonce = answer.nonce;
    return answer;
  }
}

export function signJws(header: object, payload: object, key: DeviceKey): string {
  const input = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
