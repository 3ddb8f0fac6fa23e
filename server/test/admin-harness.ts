import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { openDatabase } from '../src/adapters/postgres/database.ts';
import { randomOn } from '../src/adapters/system/random.ts';
import type { MailboxMessage } from '../src/admin/api/context.ts';
import { csrfHeader } from '../src/admin/api/server.ts';
import { adminRoutes, adminService } from '../src/admin/routes.ts';
import type { Role } from '../src/domain/admins/membership.entity.ts';
import { everything } from '../src/domain/admins/permission.ts';
import type { BuiltIn } from '../src/domain/admins/seed.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { noQueue, type Queue } from '../src/domain/kernel/queue.ts';
import { newSecret } from '../src/domain/kernel/random.ts';
import { PoolTurns } from '../src/domain/limits/turns.ts';
import { LogoutDelivery } from '../src/domain/logout/logout-delivery.entity.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { TenantKey } from '../src/domain/projects/tenant.ts';
import { SignUpRequest } from '../src/domain/signups/sign-up-request.entity.ts';
import { RefreshGrant } from '../src/domain/tokens/refresh-grant.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { withContext } from '../src/http/context.ts';
import { mount } from '../src/http/routes/mount.ts';
import { buildServices, type Services } from '../src/services.ts';
import { type AdjustableClock, adjustableClock } from './clock.ts';
import { freshDatabase } from './database.ts';

/** A response of the admin API. */
export interface Answer {
  status: number;
  headers: Headers;
  data: any;
  errors: any[];
  /** `extensions.code` of the first error. */
  code: string | undefined;
  body: string;
}

export interface AdminHarness {
  url: string;
  issuer: string;
  services: Services;
  builtIn: BuiltIn;
  clock: AdjustableClock;
  mailbox: MailboxMessage[];
  flows: Map<string, string>;
  bugs: unknown[];
  /** Calls the API with the bootstrap token, unless other headers are given. */
  call(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Authorization header with an admin API token of that role. */
  tokenOf(role: Role, projectId?: string, organizationIds?: string[]): Promise<Record<string, string>>;
  /**
   * Headers that a browser sends with a console session of that user.
   *
   * @param passkey id of the user's passkey, which began the session
   */
  sessionOf(userId: string, proof?: 'person' | 'device', passkey?: string): Promise<Record<string, string>>;
  /** A session of a user on a new device. */
  signedIn(
    project: Project,
    user: { id: string },
    clientId: string,
  ): Promise<{ session: { id: string }; device: { id: string } }>;
  /** The id of a synced passkey of a user; with a session if `isUsed`. */
  passkeyOf(project: Project, user: { id: string }, isUsed?: boolean): Promise<string>;
  /** The id of a logout delivery that the client rejected. */
  failedLogout(project: Project, client: { id: string }, user: { id: string }): Promise<string>;
  /** A refresh grant with `offline_access`. */
  refreshGrantOf(client: TenantKey, user: { id: string }): Promise<string>;
  /** A consent for `openid offline_access`. */
  consentOf(client: TenantKey, user: User): Promise<string>;
  /** A pending request to sign up. */
  signUpRequestOf(client: TenantKey): Promise<string>;
  /** A user of the console's project without a role. */
  person(email: string): Promise<string>;
  close(): Promise<void>;
}

const bootstrapToken = 'bootstrap-token-of-the-tests-0123456789';
export const bootstrap = { Authorization: `Bearer ${bootstrapToken}` };

/** The admin routes over HTTP, on a separate database. */
export async function openAdminHarness(
  options: {
    issuer?: string;
    hasMailbox?: boolean;
    consoleDist?: string;
    /** Whether PostgreSQL enforces the scope of statements. Default: true. */
    rowSecurity?: boolean;
    /** Default: 10. */
    poolSize?: number;
    /** Message senders; undefined: none. */
    senders?: Parameters<typeof buildServices>[0]['senders'];
    /** Called with the database's URL. */
    onDatabase?(url: string): Promise<void>;
    /** Default: runs no job. */
    queue?: Queue;
  } = {},
): Promise<AdminHarness> {
  const issuer = options.issuer ?? 'http://localhost:3000';
  const fresh = await freshDatabase();
  await options.onDatabase?.(fresh.url);
  const orm = await openDatabase({
    url: fresh.url,
    rowSecurity: options.rowSecurity ?? true,
    ...(options.poolSize !== undefined && { poolSize: options.poolSize }),
  });
  const clock = adjustableClock();
  // Lists are bounded by the timestamp in their ids.
  const random = randomOn(clock);
  const services = buildServices(
    {
      orm,
      clock,
      random,
      queue: options.queue ?? noQueue,
      senders: options.senders ?? { mail: null, sms: null },
      postLogoutToken: async () => ({ status: 200 }),
    },
    { issuer, masterKey: new Uint8Array(32), allowPrivateTargets: false },
  );
  await services.keys.maintain();
  const builtIn = await services.seed.create({ demo: true });
  const mailbox: MailboxMessage[] = [];
  const flows = new Map<string, string>();
  const bugs: unknown[] = [];
  const { db, sessions, admins } = services;
  const app = express();
  app.use(withContext(random));
  mount(
    app,
    adminRoutes,
    adminService({
      ...services,
      dpop: { proofs: services.dpopProofs, nonces: services.dpopNonces },
      clock,
      random,
      issuer,
      bootstrapToken,
      poolTurns: new PoolTurns(options.poolSize),
      consoleDist: options.consoleDist ?? '/nowhere',
      domain: {
        ...services,
        directoryTest: { run: async () => [] },
        mailbox:
          options.hasMailbox === false
            ? null
            : {
                list: async ({ first, after }) => {
                  const from = after === null ? 0 : mailbox.findIndex(({ id }) => id === after) + 1;
                  return { items: mailbox.slice(from, from + first), hasNextPage: mailbox.length > from + first };
                },
              },
      },
      pages: {
        text: (_req, key) => key,
        send: (_req, res, page, content) => void res.status(content?.status ?? 200).json({ page, ...content?.values }),
      },
      sessionSecret: (req, projectId) =>
        new RegExp(`session-${projectId}=([\\w-]+)`).exec(req.get('cookie') ?? '')?.[1],
      setFlowCookie: (_res, flow, secret) => void flows.set(flow, secret),
      onBug: (error) => void bugs.push(error),
    }),
  );
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const harness: AdminHarness = {
    url,
    issuer,
    services,
    builtIn,
    clock,
    mailbox,
    flows,
    bugs,
    async call(query, variables = {}, headers = bootstrap) {
      const response = await fetch(`${url}/admin/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      });
      const body = await response.text();
      const { data, errors = [] } = JSON.parse(body) as Partial<Pick<Answer, 'data' | 'errors'>>;
      const code = errors[0]?.extensions?.code as string | undefined;
      return { status: response.status, headers: response.headers, data, errors, code, body };
    },
    async tokenOf(role, projectId, organizationIds) {
      const by = { grants: everything, actor: system };
      const { token } = await admins.createToken({ name: `a ${role}`, role, projectId, organizationIds }, by);
      return { Authorization: `Bearer ${token}` };
    },
    async sessionOf(userId, proof = 'person', passkey) {
      const { console: project } = builtIn;
      const { secret } = await db.transaction((em) =>
        sessions.signIn(em, {
          project,
          userId,
          amr: passkey ? ['swk', 'user', 'pop', 'mfa'] : proof === 'person' ? ['swk', 'otp'] : ['swk'],
          ...(passkey && { deviceId: passkey }),
          authTime: clock.now(),
          freshAt: proof === 'person' ? clock.now() : undefined,
          actor: system,
        }),
      );
      return { Cookie: `session-${project.id}=${secret}`, [csrfHeader]: '1', Origin: issuer };
    },
    signedIn: (project, { id: userId }, clientId) =>
      db.transaction(async (em) => {
        const jkt = newSecret(random);
        const registration = {
          project,
          clientId,
          userId,
          jkt,
          publicJwk: { kty: 'EC' },
          hosted: false,
          remembered: true,
        };
        const { device } = await services.devices.register(em, { ...registration, actor: system });
        services.devices.trust(device, project);
        const amr = ['swk', 'otp'];
        const signIn = {
          project,
          userId,
          deviceId: device.id,
          amr,
          authTime: clock.now(),
          freshAt: clock.now(),
          actor: system,
        };
        const { session } = await sessions.signIn(em, signIn);
        return { session, device };
      }),
    passkeyOf: (project, { id: userId }, isUsed = false) =>
      db.transaction(async (em) => {
        const user = await services.users.find(em, project.id, userId);
        if (!user) throw new Error('no such user');
        const created = {
          ...{ credentialId: newSecret(random), publicKey: 'pQECAyYg', alg: -7, transports: ['internal', 'hybrid'] },
          ...{
            aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd',
            signCount: 0,
            attestedRoot: null,
            attestationFormat: 'none',
          },
          ...{ backupEligible: true, backedUp: true, userVerified: true },
        };
        const registration = { user, created, createdBy: 'mail-code', actor: system } as const;
        const { id: deviceId } = await services.passkeys.register(em, registration);
        const amr = ['swk', 'user', 'pop', 'mfa'];
        const [authTime, freshAt] = [clock.now(), clock.now()];
        if (isUsed) await sessions.signIn(em, { project, userId, deviceId, amr, authTime, freshAt, actor: system });
        return deviceId;
      }),
    failedLogout: (project, client, user) =>
      db.transaction(async (em) => {
        const delivery = em.create(LogoutDelivery, {
          ...{
            id: random.id(),
            project: project.id,
            client: [project.id, client.id] as [string, string],
            subject: user.id,
            jti: random.id(),
          },
          ...{ uri: 'https://app.example.com/logout', state: 'failed', createdAt: clock.now() },
          attempts: [{ at: clock.now().toISOString(), status: 400, durationMs: 12 }],
        });
        em.persist(delivery);
        return delivery.id;
      }),
    refreshGrantOf: (client, user) =>
      db.transaction(async (em) => {
        const now = clock.now();
        const grant = em.create(RefreshGrant, {
          ...{
            id: random.id(),
            project: client.project.id,
            familyHash: newSecret(random),
            currentHash: newSecret(random),
          },
          ...{
            client: [client.project.id, client.id] as [string, string],
            user: [client.project.id, user.id] as [string, string],
          },
          ...{
            offline: true,
            scope: 'openid offline_access',
            authTime: now,
            amr: ['swk'],
            createdAt: now,
            lastUsedAt: now,
          },
        });
        em.persist(grant);
        return grant.id;
      }),
    consentOf: (client, user) =>
      db.transaction(async (em) => {
        await services.consents.give(
          em,
          client,
          user,
          { scope: 'openid offline_access', resources: [], organizationId: null },
          system,
        );
        return (await services.consents.list(em, user)).find(({ clientId }) => clientId === client.id)?.id ?? '';
      }),
    signUpRequestOf: (client) =>
      db.transaction(async (em) => {
        const address = `${randomUUID()}@example.com`;
        const asked = {
          projectId: client.project.id,
          days: 30,
          clientId: client.id,
          address,
          locale: 'en',
          actor: system,
        } as const;
        await services.signUpRequests.ask(em, asked);
        return (await em.findOneOrFail(SignUpRequest, { project: client.project.id, address })).id;
      }),
    person: (email) =>
      db.transaction(async (em) => (await services.users.signUp(em, builtIn.console.id, email, system)).id),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await orm.close(true);
      await fresh.drop();
    },
  };
  return harness;
}
