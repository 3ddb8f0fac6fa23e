/** Users who came from another system with their `sub` (decisions/0375): it is the same wherever an application reads it. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { postLogoutRedirectUri } from '../../test/factories.ts';
import { basic, type Machine } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { deliverDue } from '../../test/relayed.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { system } from '../domain/kernel/actor.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const sub = 'auth0|65F0c';
let app: TestApp;
let project: Project;
let user: User;
/** Bodies sent to webhooks. */
const events: { type: string; data: { subject: object; detail: object | null } }[] = [];

beforeAll(async () => {
  app = await buildTestApp(undefined, {
    postWebhook: async (_url, body) => {
      events.push(JSON.parse(body));
      return { status: 204 };
    },
  });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project, { subject: sub });
});

const json = async (response: Response) => (await response.json()) as Record<string, unknown>;

/** An application with a secret at the issuer of the project. */
async function application(settings: object = {}) {
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['refresh_token'],
    ...{ idTokenSignedResponseAlg: 'ES512', backchannelLogoutUri: `https://app.example.com/${project.id}` },
    ...settings,
  });
  const web: Machine = { app, client, secret: clientSecret ?? '', issuer: projectIssuerUrl(app.url, project.slug) };
  const party = partyAt(app, project, client);
  const post = async (path: string, form: Record<string, string>) =>
    json(await fetch(`${web.issuer}${path}`, { method: 'POST', headers: basic(web), body: new URLSearchParams(form) }));
  const tokens = async () => {
    const answer = await party.exchange(await party.code({ scope: 'openid offline_access' }), {}, basic(web));
    return (await answer.json()) as { id_token: string; access_token: string; refresh_token: string };
  };
  return { client, party, post, tokens };
}

/** `sub` of the logout tokens, each once: some have `sid`, too. */
const subsOfLogout = () => [
  ...new Set(app.logoutTokens.filter(({ uri }) => uri.endsWith(project.id)).map(({ token }) => decodeJwt(token).sub)),
];

describe('a user with a subject', () => {
  it('has it in every token, response and notice of the project issuer', async () => {
    const { client, party, post, tokens } = await application();
    await party.signIn(user);
    const { access_token, id_token, refresh_token } = await tokens();
    expect(await party.claims(id_token)).toMatchObject({ sub });
    expect(decodeJwt(access_token)).toMatchObject({ sub });
    expect(await json(await party.userInfo(access_token))).toMatchObject({ sub });
    for (const token of [access_token, refresh_token]) {
      expect(await post('/oauth2/introspect', { token })).toMatchObject({ active: true, sub });
    }
    const renewed = await post('/oauth2/token', { grant_type: 'refresh_token', refresh_token });
    for (const name of ['id_token', 'access_token']) expect(decodeJwt(String(renewed[name]))).toMatchObject({ sub });
    const of = { client, userId: user.id, scopes: ['openid'] };
    const preview = await app.services.claims.preview(app.services.db.reader(), of);
    expect([preview.idToken['sub'], preview.userInfo['sub']]).toEqual([sub, sub]);
    await app.services.logout.endAllOfUser(user, system);
    await app.runJobs();
    expect(subsOfLogout()).toEqual([sub]);
  });

  it('has it at the base issuer, too', async () => {
    const { client } = await app.make.client(project, {
      backchannelLogoutUri: `https://app.example.com/${project.id}`,
    });
    const party = new RelyingParty(app, client);
    await party.signIn(user);
    const { access_token, id_token } = await party.tokens();
    expect([await party.claims(id_token), decodeJwt(access_token)]).toMatchObject([{ sub }, { sub }]);
    expect(await json(await party.userInfo(access_token))).toMatchObject({ sub });
    const ended = await party.endSession({ id_token_hint: id_token, post_logout_redirect_uri: postLogoutRedirectUri });
    expect(locationOf(ended).href).toBe(postLogoutRedirectUri);
    await app.runJobs();
    expect(subsOfLogout()).toEqual([sub]);
  });

  it('is found by an ID token hint, and another user with this hint is not', async () => {
    const { party, tokens } = await application();
    await party.signIn(user);
    const { id_token } = await tokens();
    expect((await party.answer({ prompt: 'none', id_token_hint: id_token })).has('code')).toBe(true);
    party.signOut();
    await party.signIn(await app.make.user(project));
    expect((await party.answer({ prompt: 'none', id_token_hint: id_token })).get('error')).toBe('login_required');
    const page = await party.endSession({ id_token_hint: id_token });
    expect([page.status, await party.isSignedIn()]).toEqual([200, true]);
    // Without the cookie, the hint ends the session of its `sid`.
    party.signOut();
    const sessionId = await party.signIn(user);
    const own = await tokens();
    party.signOut();
    await party.endSession({ id_token_hint: own.id_token });
    const session = await app.services.sessions.findLive(app.services.db.reader(), { project, id: sessionId });
    expect([decodeJwt(own.id_token)['sid'], session]).toEqual([sessionId, null]);
  });

  it('is named by it in webhooks, and in the event of the erasure', async () => {
    await app.services.webhooks.create(project.id, { url: 'https://hooks.example.com/', types: ['user.*'] }, system);
    await app.services.accounts.setActive(project.id, user.id, false, system);
    await deliverDue(app.services.webhookRelay);
    await app.services.accounts.remove(project.id, user.id, system);
    await deliverDue(app.services.webhookRelay);
    expect(events).toMatchObject([
      { type: 'user.updated', data: { subject: { kind: 'user', id: user.id, sub } } },
      { type: 'user.erased', data: { subject: { id: user.id }, detail: { sub } } },
    ]);
  });

  it('loses it when the account passes to another person, and the notices still name the former one', async () => {
    const { party, tokens } = await application();
    await party.signIn(user);
    const before = await tokens();
    const { accounts } = app.services;
    await accounts.setActive(project.id, user.id, false, system);
    const email = 'successor@example.com';
    const emails = [{ value: email, type: 'work', primary: true }];
    const edit = (current: Parameters<typeof valuesOf>[0]) => {
      return { ...valuesOf(current), userName: email, active: true, attributes: { ...current.attributes, emails } };
    };
    await accounts.change(project.id, user.id, edit, system);
    await app.runJobs();
    expect(subsOfLogout()).toEqual([sub]);
    const successor = await app.services.db.reader().findOneOrFail(User, { project: project.id, id: user.id });
    expect([successor.subject, successor.email]).toEqual([null, email]);
    await party.signIn(successor);
    expect(decodeJwt((await tokens()).id_token).sub).toBe(user.id);
    // The former person's ID token names no user here.
    const answer = await party.answer({ prompt: 'none', id_token_hint: before.id_token });
    expect(answer.get('error')).toBe('login_required');
  });
});

describe('a new user with a subject', () => {
  const add = (subject: string, email: string) =>
    app.services.newUsers.add(project.id, { email, subject }, { invite: false }, system);

  it('is refused if it is `sub` of another user or of an application, in whichever order they came', async () => {
    const plain = await app.make.user(project);
    const { client } = await app.make.client(project);
    for (const taken of [sub, user.id, plain.id, client.id]) {
      await expect(add(taken, 'new@example.com')).rejects.toMatchObject({
        problem: { code: 'taken', field: 'subject' },
      });
    }
    // Another project may have a user with the same subject, and letters differ by their case.
    await add(sub.toLowerCase(), 'new@example.com');
    const other = await app.make.project();
    await app.services.newUsers.add(other.id, { email: 'new@example.com', subject: sub }, { invite: false }, system);
  });

  it.each(['', ' a', 'a ', 'ä', 'a\nb', 'x'.repeat(256)])('cannot have the subject %j', async (subject) => {
    const adding = add(subject, `new-${subject.length}@example.com`);
    if (subject === '') return expect(await adding).toBeDefined();
    await expect(adding).rejects.toMatchObject({ problem: { code: 'invalid', field: 'subject' } });
  });

  it('is one of two in a race', async () => {
    const tries = await Promise.allSettled([1, 2, 3].map((n) => add('race', `racer-${n}@example.com`)));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
