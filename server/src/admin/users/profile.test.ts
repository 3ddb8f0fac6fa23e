import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let ada: User;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
});
afterAll(() => harness.close());
beforeEach(async () => {
  ada = await make.user(project);
});

const fields = `displayName givenName familyName locale zoneinfo birthdate
  address { formatted streetAddress locality region postalCode country }`;
const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { ${fields} } }`,
    { input: { id: ada.id, ...input } },
    headers,
  );
const fault = async (input: object) => (await update(input)).errors[0]?.message;
const stored = async () => {
  const user = await harness.services.accounts.find(project.id, ada.id);
  return { version: user?.version, attributes: user?.attributes };
};
const events = () =>
  harness.services.db
    .reader()
    .find(AuditEvent, { type: 'user.updated', subjectId: ada.id }, { orderBy: { id: 'asc' } });

describe('Mutation.updateUser', () => {
  it('sets attributes, which reach the claims', async () => {
    const answer = await update({
      ...{ displayName: 'Ada L.', givenName: ' Ada ', familyName: 'Lovelace', locale: 'de-ch' },
      ...{ zoneinfo: 'europe/zurich', birthdate: '1815-12-10' },
      address: { streetAddress: 'St James’s Square 12', locality: 'London', country: 'GB' },
    });
    expect(answer.data.updateUser).toEqual({
      ...{ displayName: 'Ada L.', givenName: 'Ada', familyName: 'Lovelace', locale: 'de-CH' },
      ...{ zoneinfo: 'Europe/Zurich', birthdate: '1815-12-10' },
      address: {
        ...{ formatted: null, streetAddress: 'St James’s Square 12', locality: 'London', region: null },
        ...{ postalCode: null, country: 'GB' },
      },
    });
    expect((await stored()).attributes).toEqual({
      ...{ locale: 'de-CH', timezone: 'Europe/Zurich', birthdate: '1815-12-10' },
      addresses: [{ streetAddress: 'St James’s Square 12', locality: 'London', country: 'GB' }],
    });
  });

  it('keeps absent fields, clears null and blank ones, and records the values before and after', async () => {
    await update({ givenName: 'Ada', locale: 'en', address: { locality: 'London' } });
    const answer = await update({ givenName: null, locale: ' ', address: null });
    expect(answer.data.updateUser).toMatchObject({ givenName: null, locale: null, address: null });
    expect((await stored()).attributes).toEqual({});
    const { version } = await stored();
    await update({ givenName: null });
    expect((await stored()).version).toBe(version);
    expect((await events()).map(({ detail }) => detail)).toEqual([
      {
        before: { givenName: null, locale: null, addresses: null },
        after: { givenName: 'Ada', locale: 'en', addresses: [{ locality: 'London' }] },
      },
      {
        before: { givenName: 'Ada', locale: 'en', addresses: [{ locality: 'London' }] },
        after: { givenName: null, locale: null, addresses: null },
      },
    ]);
    await harness.services.accounts.remove(project.id, ada.id, system);
    expect((await events()).map(({ detail, subjectName }) => [detail, subjectName])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it('replaces the primary address and keeps the others', async () => {
    ada = await make.user(project, {
      attributes: { addresses: [{ locality: 'Bern' }, { locality: 'Basel', type: 'work', primary: true }] },
    });
    await update({ address: { locality: 'London' } });
    expect((await stored()).attributes?.['addresses']).toEqual([
      { locality: 'Bern' },
      { locality: 'London', type: 'work', primary: true },
    ]);
    await update({ address: null });
    expect((await stored()).attributes?.['addresses']).toEqual([{ locality: 'Bern' }]);
  });

  it('refuses bad values, naming the field, and changes nothing', async () => {
    const before = await stored();
    expect(await fault({ locale: 'not_a-locale!' })).toBe('locale must be a language tag such as en-US (BCP 47).');
    for (const zoneinfo of ['Mars/Olympus', '+01:00', 'UTC+1', '../etc/passwd']) {
      expect(await fault({ zoneinfo })).toBe('zoneinfo must be a time zone such as Europe/Zurich (IANA).');
    }
    for (const birthdate of ['1990-02-30', '10.12.1815', '1990-1-1', '1990-12-31T00:00:00Z', '0000']) {
      expect(await fault({ birthdate })).toBe('birthdate must be a date such as 1990-12-31 (ISO 8601).');
    }
    expect(await fault({ birthdate: '2999-01-01' })).toBe('birthdate must not be in the future.');
    expect(await fault({ address: { country: 'England' } })).toMatch(/^address.country must be a country code/);
    expect(await fault({ address: { locality: 'a\nb' } })).toBe('address.locality must be one line.');
    expect(await fault({ address: { formatted: 'x'.repeat(1025) } })).toMatch(/^address.formatted must have at most/);
    expect(await fault({ givenName: 'x'.repeat(257) })).toBe('givenName must have at most 256 characters.');
    expect(await fault({ familyName: 'a\u202eb' })).toMatch(/^familyName must not contain bidirectional/);
    expect(await fault({ displayName: 'a\u0000b' })).toBe('input must not contain NUL or unpaired surrogates.');
    expect(await stored()).toEqual(before);
    expect(await fault({ address: { formatted: 'a\nb' }, zoneinfo: 'UTC' })).toBeUndefined();
  });

  it('changes fields of the directory, which locks the phone alone (service.md 3.1)', async () => {
    await harness.services.projects.update(project.id, { scimAuthoritative: true }, system);
    ada = await make.user(project, { provenance: 'scim', givenName: 'Ada', attributes: { locale: 'en-US' } });
    const edit = {
      givenName: 'Eve',
      displayName: 'Eve',
      locale: 'de',
      zoneinfo: 'Europe/Paris',
      address: { locality: 'Rome' },
    };
    expect((await update(edit)).data.updateUser).toMatchObject(edit);
  });

  it('is for admins of the project', async () => {
    const other = await make.project();
    const viewer = await harness.tokenOf('project_viewer', project.id);
    expect((await update({ givenName: 'Eve' }, viewer)).code).toBe('forbidden');
    const stranger = await harness.tokenOf('project_admin', other.id);
    expect((await update({ givenName: 'Eve' }, stranger)).code).toBe('not-found');
    expect((await update({ id: 'x', givenName: 'Eve' })).code).toBe('not-found');
    expect((await stored()).version).toBe(1);
  });
});
