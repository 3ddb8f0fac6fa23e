import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { DelegationClient } from '@latchkey/node';
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify } from 'jose';
import { expect, vi } from 'vitest';
import type { Client } from '../src/domain/clients/client.entity.ts';
import type { PublicPair } from '../src/domain/delegation/delegation-keys.ts';
import { publicPem, thumbprint } from '../src/domain/delegation/key-pem.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { seconds } from '../src/domain/kernel/clock.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';

/** A key pair of a back end, in all formats. */
export function makePair() {
  const [signing, encryption] = [generateKeyPairSync('ed25519'), generateKeyPairSync('x25519')];
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    signing,
    encryption,
    privatePem: { signing: pem(signing.privateKey), encryption: pem(encryption.privateKey) },
    publicPem: { signing: publicPem(signing.publicKey), encryption: publicPem(encryption.publicKey) } as PublicPair,
  };
}
export type Pair = ReturnType<typeof makePair>;

/** Modifications of a request before it is sent. */
export interface Deviations {
  claims?: Record<string, unknown>;
  body?: unknown;
  op?: string;
  inner?: Record<string, unknown>;
  outer?: Record<string, unknown>;
  signWith?: KeyObject;
  /** Replaces Latchkey's public key. */
  encryptTo?: KeyObject;
  /** Payload of the envelope instead of a JWS. */
  raw?: string;
}

/** A response as received. */
export interface Reply {
  status: number;
  text: string;
  /** Decrypted and verified payload; undefined if the response was not encrypted. */
  payload?: { status: number; body: Record<string, unknown>; [claim: string]: unknown };
  /** The error code, from either format. */
  code: string | undefined;
}

/** A client's back end with registered keys and a configured library; tests can modify its requests. */
export class TestBackEnd {
  readonly app: TestApp;
  readonly client: Client;
  readonly secretKey: string;
  pair: Pair;

  private constructor(app: TestApp, client: Client, secretKey: string, pair: Pair) {
    this.app = app;
    this.client = client;
    this.secretKey = secretKey;
    this.pair = pair;
  }

  static async of(app: TestApp, project: Project, pair = makePair()): Promise<TestBackEnd> {
    const { client, secretKey } = await app.make.client(project);
    await app.services.delegationKeys.register(client, pair.publicPem, system);
    return new TestBackEnd(app, client, secretKey, pair);
  }

  /** Latchkey's newest key pair, as shown in the console. */
  async ours(): Promise<PublicPair> {
    const keys = await this.app.services.delegationKeys.list(this.app.services.db.reader(), [this.client]);
    const newest = keys.find(({ party }) => party === 'idp');
    return { signing: newest?.signingPublicPem ?? '', encryption: newest?.encryptionPublicPem ?? '' };
  }

  async delegationClient(
    more: Partial<Parameters<typeof DelegationClient.fromKeys>[0]> = {},
  ): Promise<DelegationClient> {
    const ours = await this.ours();
    return DelegationClient.fromKeys({
      spSigningKey: this.pair.privatePem.signing,
      spEncryptionKey: this.pair.privatePem.encryption,
      idpVerifyKey: ours.signing,
      idpEncryptionKey: ours.encryption,
      baseUrl: this.app.url,
      spId: this.client.id,
      apiKey: this.secretKey,
      ...more,
    });
  }

  get audience(): string {
    return `${this.app.url}/${this.client.project.id}`;
  }

  /** A request as the library creates it, with modifications. */
  async seal(deviations: Deviations = {}): Promise<string> {
    const key = deviations.encryptTo ?? createPublicKey((await this.ours()).encryption);
    const kid = thumbprint(key);
    const iat = seconds(this.app.clock.now());
    const payload = {
      iss: this.client.id,
      aud: this.audience,
      iat,
      exp: iat + 60,
      jti: crypto.randomUUID(),
      op: deviations.op ?? 'getUserCredentials',
      enc_kid: kid,
      body: 'body' in deviations ? deviations.body : { userid: address },
      ...deviations.claims,
    };
    const signed =
      deviations.raw ??
      (await new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'EdDSA', typ: 'delegation-req+jwt', ...deviations.inner })
        .sign(deviations.signWith ?? this.pair.signing.privateKey));
    return new CompactEncrypt(Buffer.from(signed))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe', kid, ...deviations.outer })
      .encrypt(key);
  }

  async send(text: string, headers: Record<string, string> = {}): Promise<Reply> {
    const response = await fetch(`${this.app.url}/v1/delegation`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/jose', 'X-Api-Key': this.secretKey, ...headers },
      body: text,
    });
    const answer = await response.text();
    if (response.headers.get('content-type') !== 'application/jose') {
      const body = JSON.parse(answer) as { error?: { code?: string } };
      return { status: response.status, text: answer, code: body.error?.code };
    }
    const payload = await this.open(answer);
    const error = payload?.body['error'] as { code?: string } | undefined;
    return { status: response.status, text: answer, ...(payload && { payload }), code: error?.code };
  }

  /** Decrypts and verifies a response with the newest keys of both sides. */
  async open(text: string): Promise<Reply['payload']> {
    const { plaintext } = await compactDecrypt(text, this.pair.encryption.privateKey);
    const verified = await compactVerify(plaintext, createPublicKey((await this.ours()).signing));
    return JSON.parse(Buffer.from(verified.payload).toString());
  }
}

/** The default user of a request. */
export const address = 'ada@example.com';

export interface DelegationWorld {
  app: TestApp;
  project: Project;
  ada: User;
  backEnd: TestBackEnd;
  close(): Promise<void>;
}

/** An instance with one project, its user Ada and a back end. */
export async function openDelegation(): Promise<DelegationWorld> {
  const app = await buildTestApp();
  alignTime(app);
  const project = await app.make.project();
  const names = { userName: address, userNameKey: address, email: address, emailKey: address };
  const ada = await app.make.user(project, names);
  const backEnd = await TestBackEnd.of(app, project);
  const close = async () => {
    vi.useRealTimers();
    await app.close();
  };
  return { app, project, ada, backEnd, close };
}

/** Sets the system time, which the library reads, to the app's clock. */
function alignTime(app: TestApp): void {
  vi.useFakeTimers({ toFake: ['Date'], now: app.clock.now() });
}

/** Advances both clocks. */
export function turn(app: TestApp, bySeconds: number): void {
  app.clock.turn(bySeconds);
  vi.setSystemTime(app.clock.now());
}

/** The newest six-digit code sent to this recipient. */
export async function codeSentTo(app: TestApp, recipient: string): Promise<string> {
  await app.runJobs();
  const message = app.mailbox.findLast(({ to }) => to === recipient);
  const code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0];
  if (code === undefined) expect.fail(`no code for ${recipient}`);
  return code;
}
