/** Claims that applications receive at the issuer of their project: groups, roles, profile and mapped claims. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  user = await app.make.user(project);
  const { roles } = app.services;
  const role = await roles.create(key(), { key: 'editor', name: 'Editor' }, system);
  await roles.assign({ project: { id: project.id }, id: role.id }, { userId: user.id }, system);
});

const key = () => ({ project: { id: project.id }, id: client.id });

it('the ID token and UserInfo have the claims of the granted scopes, but none at the base issuer', async () => {
  await app.services.claims.update(key(), { mappings: [{ claim: 'department', constant: 'R&D' }] }, system);
  const own = partyAt(app, project, client);
  await own.signIn(user);
  const { id_token, access_token, scope } = (await own.tokens({ scope: 'openid profile roles groups' })) as never;
  expect(scope).toBe('openid profile roles groups');
  const expected = { roles: ['editor'], department: 'R&D', preferred_username: user.userName };
  expect(decodeJwt(id_token)).toMatchObject({ ...expected, sub: user.id, iss: own.issuer });
  expect(await (await own.userInfo(access_token)).json()).toMatchObject({ ...expected, sub: user.id });
  const less = (await own.tokens({ scope: 'openid' })) as never as { id_token: string };
  expect(decodeJwt(less.id_token)).not.toHaveProperty('roles');
  const base = new RelyingParty(app, client);
  await base.signIn(user);
  const plain = (await base.tokens({ scope: 'openid profile roles groups' })) as never as Record<string, string>;
  expect(plain['scope']).toBe('openid profile');
  for (const name of Object.keys(expected)) {
    expect(decodeJwt(String(plain['id_token']))).not.toHaveProperty(name);
    expect(await (await base.userInfo(String(plain['access_token']))).json()).not.toHaveProperty(name);
  }
});

it('claims_supported has all claims of the scopes', async () => {
  const attributes = {
    name: { middleName: 'King' },
    nickName: 'Ada',
    profileUrl: 'https://ada.example.com',
    photos: [{ value: 'https://ada.example.com/a.png' }],
  };
  user = await app.make.user(project, { attributes });
  const own = partyAt(app, project, client);
  await own.signIn(user);
  const { access_token } = (await own.tokens({ scope: 'openid profile email roles groups' })) as never;
  const claims = Object.keys((await (await own.userInfo(access_token)).json()) as object);
  expect(claims).toEqual(expect.arrayContaining(['middle_name', 'nickname', 'profile', 'picture']));
  const document = await (await fetch(`${own.issuer}/.well-known/openid-configuration`)).json();
  expect(document).toMatchObject({ claims_supported: expect.arrayContaining(claims) });
});
