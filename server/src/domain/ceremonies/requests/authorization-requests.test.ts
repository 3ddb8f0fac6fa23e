import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../../test/build-app.ts';
import { redirectUri } from '../../../../test/factories.ts';
import type { Client } from '../../clients/client.entity.ts';
import { system } from '../../kernel/actor.ts';
import type { Project } from '../../projects/project.entity.ts';
import { decidedFor } from '../account.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import {
  type AuthorizationRequests,
  type NewAuthorizationRequest,
  requestTtlSeconds,
} from './authorization-requests.ts';

let app: TestApp;
let requests: AuthorizationRequests;
let project: Project;

beforeAll(async () => {
  app = await buildTestApp();
  requests = app.services.requests;
  project = await app.make.project();
});
afterAll(() => app.close());

const work = <T>(what: Parameters<typeof app.services.db.transaction<T>>[0]) => app.services.db.transaction(what);
const reader = () => app.services.db.reader();
const newClient = async () => (await app.make.client(project)).client;
const begin = async (client: Client, some: Partial<NewAuthorizationRequest> = {}) => {
  const asked = {
    projectId: project.id,
    clientId: client.id,
    redirectUri,
    scope: 'openid',
    codeChallenge: 'challenge',
    ...some,
  };
  return work((em) => requests.begin(em, asked));
};
const find = (flow: string, secret: string) => requests.find(reader(), flow, secret);

describe('a pending authorization request', () => {
  it('is found by its flow in the browser that started it, with its parameters', async () => {
    const hintedUserId = (await app.make.user(project)).id;
    const asked = { state: 's', nonce: 'n', loginHint: 'ada', uiLocales: 'de', hintedUserId, personRequired: true };
    const { flow, browserSecret } = await begin(await newClient(), asked);
    expect(await find(flow, browserSecret)).toMatchObject({
      ...asked,
      redirectUri,
      scope: 'openid',
      setupLinkId: null,
    });
    const other = await begin(await newClient());
    expect(await find(flow, other.browserSecret)).toBeNull();
    expect(await find(other.flow, browserSecret)).toBeNull();
    const plain = { state: null, nonce: null, loginHint: null, hintedUserId: null, personRequired: false };
    expect(await find(other.flow, other.browserSecret)).toMatchObject(plain);
  });

  it('expires after 30 minutes', async () => {
    const { flow, browserSecret } = await begin(await newClient());
    const { id } = (await find(flow, browserSecret)) as AuthorizationRequest;
    app.clock.turn(requestTtlSeconds - 1);
    expect(await find(flow, browserSecret)).not.toBeNull();
    app.clock.turn(1);
    expect(await find(flow, browserSecret)).toBeNull();
    expect(await work((em) => requests.finish(em, { project, id }))).toBe(false);
    expect(requestTtlSeconds).toBe(1800);
  });

  it('is finished by exactly one of several concurrent callers', async () => {
    const [one, other] = [await begin(await newClient()), await begin(await newClient())];
    const { id } = (await find(one.flow, one.browserSecret)) as AuthorizationRequest;
    const finish = () => work((em) => requests.finish(em, { project, id }));
    expect((await Promise.all([finish(), finish(), finish()])).sort()).toEqual([false, false, true]);
    expect(await find(one.flow, one.browserSecret)).toBeNull();
    expect(await find(other.flow, other.browserSecret)).not.toBeNull();
  });

  it('ends when its client is disabled or loses the redirect URI', async () => {
    const [disabled, moved] = [await newClient(), await newClient()];
    const [one, two] = [await begin(disabled), await begin(moved)];
    const own = await begin(moved, { redirectUri: `${app.url}/account/callback` });
    await app.make.disable(disabled);
    await app.services.clients.update(moved, { redirectUris: ['https://elsewhere.example.com/cb'] }, system);
    expect(await find(one.flow, one.browserSecret)).toBeNull();
    expect(await find(two.flow, two.browserSecret)).toBeNull();
    expect(await find(own.flow, own.browserSecret)).not.toBeNull();
  });
});

describe('the account of an address', () => {
  it('is the user with this email, before the user with this user name', async () => {
    const address = 'shared@example.com';
    const named = { userName: address, userNameKey: address, email: 'own@example.com', emailKey: 'own@example.com' };
    const byName = await app.make.user(project, named);
    expect(await decidedFor(reader(), project.id, address, null)).toEqual({
      account: byName.id,
      mailbox: 'own@example.com',
    });
    const byMail = await app.make.user(project, { email: address, emailKey: address });
    expect(await decidedFor(reader(), project.id, address, null)).toEqual({ account: byMail.id, mailbox: address });
  });

  it('is null if the project has no such user; the mailbox is then the address', async () => {
    const elsewhere = await app.make.project();
    const address = 'elsewhere@example.com';
    await app.make.user(elsewhere, { userName: address, userNameKey: address, email: address, emailKey: address });
    expect(await decidedFor(reader(), project.id, address, null)).toEqual({ account: null, mailbox: address });
    for (const broken of ['a\0@example.com', 'a\ud800@example.com']) {
      expect(await decidedFor(reader(), project.id, broken, null)).toEqual({ account: null, mailbox: broken });
    }
  });
});
