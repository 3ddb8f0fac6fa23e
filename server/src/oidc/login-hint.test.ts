/** `login_hint` under a live session (OpenID Connect Core section 3.1.2.1, decisions/0341). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let ada: User;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  ada = await app.make.user(project, { ...names('ada'), ...emails('ada@example.com') });
  await app.make.user(project, { ...names('bob'), ...emails('bob@example.com') });
  party = partyAt(app, project, client);
  await party.signIn(ada);
});

const names = (userName: string) => ({ userName, userNameKey: userName });
const emails = (email: string) => ({ email, emailKey: email });

/** The path of the sign-in page, or of the application, and the parameters there. */
async function answerTo(changes: Changes, from = party): Promise<[string, string | null]> {
  const { pathname, searchParams } = locationOf(await from.authorize(changes));
  return [pathname, searchParams.get('error') ?? (searchParams.has('code') ? 'code' : null)];
}

const filledIn = () =>
  rows(app.services.db, 'select login_hint from authorization_requests where client_id = ?', [client.id]);

const asked = ['/signin', null];
const given = ['/callback', 'code'];

describe('login_hint at the issuer of a project, under a live session', () => {
  it.each(['ada@example.com', ' ADA@example.com', 'ada', 'Ada'])('%j names its user, who gets a code', async (hint) => {
    expect(await answerTo({ login_hint: hint })).toEqual(given);
    expect(await answerTo({ login_hint: hint, prompt: 'none' })).toEqual(given);
  });

  it('can be the sub of its user', async () => {
    expect(await answerTo({ login_hint: ada.id })).toEqual(given);
  });

  it.each(['bob', 'bob@example.com', 'nobody@example.com', 'nobody', "' or 1=1 --"])(
    '%j names another one, known or not: the user is asked, with the address filled in',
    async (hint) => {
      expect(await answerTo({ login_hint: hint, prompt: 'none' })).toEqual(['/callback', 'login_required']);
      const begun = locationOf(await party.authorize({ login_hint: hint }));
      expect(begun.pathname).toBe('/signin');
      expect(await filledIn()).toEqual([{ login_hint: hint }]);
    },
  );

  it('that names another one is not met by the session that was there before', async () => {
    const flow = locationOf(await party.authorize({ login_hint: 'bob' })).searchParams.get('flow');
    const resumed = await party.browser.get(`${party.issuer}/authorize/resume?flow=${flow}`);
    expect(locationOf(resumed).pathname).toBe('/signin');
  });

  it.each([undefined, '', ' ', 'undefined', 'null'])('%j is none', async (hint) => {
    expect(await answerTo({ login_hint: hint })).toEqual(given);
    party.signOut();
    await party.authorize({ login_hint: hint });
    expect(await filledIn()).toEqual([{ login_hint: null }]);
  });

  it('only fills in the address for a client that does not check it', async () => {
    await app.services.clients.update(client, { loginHintChecked: false }, system);
    expect(await answerTo({ login_hint: 'bob' })).toEqual(given);
    expect(await answerTo({ login_hint: 'bob', prompt: 'none' })).toEqual(given);
  });

  it('is checked in a pushed request, too', async () => {
    const form = new URLSearchParams({ ...pushedFields(), login_hint: 'bob' });
    const pushed = await fetch(`${party.issuer}/oauth2/par`, { method: 'POST', body: form });
    const { request_uri: handle } = (await pushed.json()) as { request_uri: string };
    const query = new URLSearchParams({ client_id: client.id, request_uri: handle });
    expect(locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`)).pathname).toBe('/signin');
  });
});

it('login_hint at the base issuer only fills in the address: the contract has no such rule', async () => {
  const base = new RelyingParty(app, client);
  await base.signIn(ada);
  expect(await answerTo({ login_hint: 'bob' }, base)).toEqual(given);
  expect(await answerTo({ login_hint: 'bob', prompt: 'none' }, base)).toEqual(given);
  base.signOut();
  expect(await answerTo({ login_hint: 'bob' }, base)).toEqual(asked);
});

function pushedFields(): Record<string, string> {
  const { challenge } = party.proof;
  return {
    ...{ response_type: 'code', client_id: client.id, scope: 'openid', redirect_uri: client.redirectUris[0] ?? '' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  };
}
