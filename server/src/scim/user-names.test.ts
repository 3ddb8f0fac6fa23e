/** User names that differ only in spaces or in characters that do not show are one (decisions/0316). */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { newUserValues } from '../domain/users/creation/new-user.ts';
import { editedLogin } from '../domain/users/edits/login-edit.ts';
import { atProject } from '../domain/users/identity/home.ts';

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(() => app.close());

const schema = { version: 0, attributes: [] };
const names = async (filter: string): Promise<string[]> => {
  const { body } = await project.request('GET', `/Users?filter=${encodeURIComponent(filter)}`);
  return body.Resources.map(({ userName }: { userName: string }) => userName);
};

/** Spellings of `Ada Lovelace`: spaces of any kind, zero-width characters, direction marks. */
const spellings = [
  ...[' Ada Lovelace', 'Ada Lovelace ', '\u00a0Ada Lovelace\u3000', 'ada  lovelace', 'Ada\u00a0Lovelace'],
  ...[
    'Ada\u2009Lovelace',
    '\ufeffAda Lovelace',
    'Ada\u200b Lovelace',
    'Ada Love\u00adlace',
    '\u200eAda Lovelace\u200f',
  ],
];

describe('a user name', () => {
  it('is stored without the spaces around it, which no filter needs', async () => {
    project = await app.project();
    const { status, body } = await project.request('POST', '/Users', { userName: ' \u00a0Ada Lovelace\u200b ' });
    expect([status, body.userName]).toEqual([201, 'Ada Lovelace']);
    for (const spelling of spellings) {
      expect([spelling, await names(`userName eq "${spelling}"`)]).toEqual([spelling, ['Ada Lovelace']]);
    }
    expect(await names('userName sw "ada "')).toEqual(['Ada Lovelace']);
    expect(await names('userName ew "\u00a0lovelace "')).toEqual(['Ada Lovelace']);
    expect(await names('userName co "a l"')).toEqual(['Ada Lovelace']);
    expect(await names('userName sw "adal"')).toEqual([]);
    expect(await names('userName ne " ada lovelace"')).toEqual([]);
    const same = await project.request('PUT', `/Users/${body.id}`, { userName: '\u2003Ada Lovelace ' });
    expect(same.body).toMatchObject({ userName: 'Ada Lovelace', meta: { version: body.meta.version } });
    const patch = {
      Operations: [{ op: 'replace', path: 'userName', value: 'Ada Lovelace\t'.replace('\t', '\u2009') }],
    };
    expect((await project.request('PATCH', `/Users/${body.id}`, patch)).body.meta.version).toBe(body.meta.version);
    expect(app.bugs).toEqual([]);
  });

  it('of another user is taken in every spelling, by each way to write one', async () => {
    project = await app.project();
    await project.request('POST', '/Users', { userName: 'Ada Lovelace' });
    const { body: other } = await project.request('POST', '/Users', { userName: 'bob' });
    const { services } = app;
    const now = app.clock.now();
    for (const userName of spellings) {
      const taken = { status: 409, body: { scimType: 'uniqueness' } };
      expect(await project.request('POST', '/Users', { userName })).toMatchObject(taken);
      expect(await project.request('PUT', `/Users/${other.id}`, { userName })).toMatchObject(taken);
      const values = newUserValues({ userName, email: null }, { schema, now });
      const problem = { code: 'taken', field: 'userName' };
      const create = services.db.transaction((em) =>
        services.users.create(em, atProject(project.id), values, 'local', system),
      );
      expect(await problemOf(create)).toMatchObject(problem);
      const edit = services.accounts.change(
        project.id,
        other.id,
        (user) => editedLogin(user, { userName }, { isLocked: false }),
        system,
      );
      expect(await problemOf(edit)).toMatchObject(problem);
    }
    expect(
      await rows(services.db, 'select user_name from users where project_id = ? order by 1', [project.id]),
    ).toEqual([{ user_name: 'Ada Lovelace' }, { user_name: 'bob' }]);
  });

  it.each([' ', '\u00a0', '\u200b', '\u3164', '\u200e\u200f'])('of %j alone is refused as blank', async (userName) => {
    project = await app.project();
    const refused = await project.request('POST', '/Users', { userName });
    expect(refused).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue', detail: 'userName must not be blank.' },
    });
  });

  it('that an earlier release stored with spaces keeps its user changeable beside the same name without', async () => {
    project = await app.project();
    const { body: older } = await project.request('POST', '/Users', { userName: 'older' });
    await app.services.db.transaction((em) =>
      em.execute(`update users set user_name = ' carol', user_name_key = ' carol' where id = ?`, [older.id]),
    );
    expect((await project.request('POST', '/Users', { userName: 'carol' })).status).toBe(201);
    const patch = { Operations: [{ op: 'replace', path: 'title', value: 'x' }] };
    expect(await project.request('PATCH', `/Users/${older.id}`, patch)).toMatchObject({
      status: 200,
      body: { title: 'x' },
    });
    const phones = {
      Operations: [{ op: 'add', path: 'phoneNumbers', value: [{ value: '+41790000001', type: 'mobile' }] }],
    };
    expect((await project.request('PATCH', `/Users/${older.id}`, phones)).status).toBe(200);
  });
});

it('an email address with characters that do not show is no login email', async () => {
  project = await app.project();
  await project.request('POST', '/Users', { userName: 'eve', emails: [{ value: 'eve@example.com' }] });
  const hidden = await project.request('POST', '/Users', {
    userName: 'x',
    emails: [{ value: 'e\u200bve@example.com' }],
  });
  expect(hidden).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  const { services } = app;
  const found = (address: string) =>
    services.db.transaction(async (em) => (await services.users.findByAddress(em, project.id, address))?.userName);
  expect(await found('\u00a0eve@example.com\u200b')).toBe('eve');
  const signUp = services.db.transaction((em) =>
    services.users.signUp(em, project.id, '\u200beve@example.com ', system),
  );
  expect(await problemOf(signUp)).toMatchObject({ code: 'taken' });
});
