/** The user's own profile on the account page. */
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { personExport } from '../domain/accounts/person-export.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { profileOf } from '../domain/users/profile.ts';
import { User } from '../domain/users/user.entity.ts';
import { type UserRecord, valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const { giveFactor, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const stored = (id: string) => app.services.db.reader().findOneOrFail(User, { id });
const ofNames = {
  displayName: 'Ada L.',
  givenName: 'Ada',
  familyName: 'Lovelace',
  locale: 'en-gb',
  zoneinfo: 'Europe/Zurich',
};

/** The fields of a form, whose empty ones are removed. */
const named = (fields: Record<string, string>) => ({ fields: Object.keys(fields).join(' '), ...fields });

describe('the profile', () => {
  it('is edited by its user; a refusal names the invalid field, and the event the fields', async () => {
    const { user, visit } = await registeredUser();
    expect((await visit.change('edit-profile', named(ofNames))).headers.get('location')).toContain('saved');
    expect((await visit.change('edit-birthdate', named({ birthdate: '1990-12-31' }))).status).toBe(303);
    const address = {
      streetAddress: 'Bahnhofstrasse 1',
      postalCode: '8001',
      locality: 'Zürich',
      region: '',
      country: 'ch',
    };
    expect((await visit.change('edit-address', address)).status).toBe(303);
    expect(profileOf(await stored(user.id))).toMatchObject({
      ...{ name: 'Ada L.', given_name: 'Ada', family_name: 'Lovelace', locale: 'en-GB', zoneinfo: 'Europe/Zurich' },
      ...{ birthdate: '1990-12-31', address: { locality: 'Zürich', country: 'CH' } },
    });
    for (const [change, fields, text] of [
      ['edit-profile', named({ zoneinfo: '+01:00' }), 'Enter a time zone'],
      ['edit-profile', named({ locale: 'not a language' }), 'Enter a language'],
      ['edit-profile', named({ displayName: 'x'.repeat(257) }), 'at most 256 characters'],
      ['edit-profile', named({ givenName: 'x'.repeat(257) }), 'at most 256 characters'],
      ['edit-profile', named({ familyName: 'x'.repeat(257) }), 'at most 256 characters'],
      ['edit-birthdate', named({ birthdate: '2190-01-01' }), 'not in the future'],
      ['edit-address', { country: 'XX' }, 'as two letters'],
    ] as const) {
      const response = await visit.change(change, fields);
      expect([response.status, (await response.text()).includes(text)], text).toEqual([400, true]);
    }
    await visit.change('edit-profile', named({ givenName: '' }));
    expect((await stored(user.id)).givenName).toBeNull();
    const where = { projectId: world.project.id, type: 'user.updated' };
    const [event] = await app.services.db.reader().find(AuditEvent, where, { orderBy: { id: 'desc' }, limit: 1 });
    expect(event).toMatchObject({ detail: { changed: ['givenName'] }, actorId: user.id });
  });

  it('shows the custom attributes that the user may see, read-only, and no other', async () => {
    await world.begin();
    const { user, visit } = await registeredUser();
    expect(await visit.page()).not.toContain('Other details');
    const { accounts, customAttributes, userEdits } = app.services;
    const define = (name: string, more: object = {}) =>
      customAttributes.create(world.project.id, { name, type: 'string', ...more } as never, system);
    const visibleTo = ['user'];
    await define('badge', { visibleTo, description: 'Badge <number>' });
    await define('remote', { type: 'boolean', visibleTo });
    await define('skills', { multiValued: true, visibleTo: ['applications', 'user'], mutability: 'readOnly' });
    const parts = [
      { name: 'city', type: 'string' },
      { name: 'desk', type: 'integer' },
    ];
    await define('offices', { type: 'complex', multiValued: true, visibleTo, subAttributes: parts });
    await define('floor', { type: 'integer', visibleTo });
    await define('rating', { visibleTo: ['applications'] });
    await define('note');
    const values = {
      ...{
        badge: '<b>7</b>',
        remote: false,
        skills: ['go', 'sql'],
        offices: [{ city: 'Bern', desk: 4 }, { city: 'Basel' }],
      },
      ...{ rating: 'secret-rating', note: 'secret-note' },
    };
    await userEdits.editCustom(world.project.id, user.id, values, system);
    const page = await visit.page();
    for (const text of [
      ...['Other details', 'Badge &lt;number&gt;: &lt;b&gt;7&lt;/b&gt;', 'remote: No', 'skills: go; sql'],
      'offices: city Bern, desk 4; city Basel',
    ])
      expect(page).toContain(text);
    expect(page).not.toMatch(/secret|floor|rating|name="badge"/);
    await visit.change('edit-profile', named({ badge: 'mine', givenName: 'Ada' }));
    expect((await accounts.find(world.project.id, user.id))?.attributes).toMatchObject({
      'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User': { badge: '<b>7</b>' },
    });
    let file = '';
    for await (const chunk of personExport(() => app.services.db.reader(), await stored(user.id), {})) file += chunk;
    expect(JSON.parse(file).profile.attributes).toMatchObject({
      'urn:ietf:params:scim:schemas:extension:latchkey:2.0:User': values,
    });
  });

  it('has a language, which takes precedence over that of the browser on this page and in mails', async () => {
    const { address, user, visit } = await registeredUser();
    const { accounts } = app.services;
    const inBrowser = async (languages: string) => {
      const page = await visit.browser.get(`${app.url}/account`, { 'accept-language': languages });
      return /<html lang="(\w+)"/.exec(await page.text())?.[1];
    };
    expect([await inBrowser('fr-CH'), await inBrowser('hu')]).toEqual(['fr', 'en']);
    const withDirectory = (current: UserRecord) => ({
      ...valuesOf(current),
      attributes: { ...current.attributes, preferredLanguage: 'es-ES, en;q=0.5' },
    });
    await accounts.change(world.project.id, user.id, withDirectory, system);
    expect(await inBrowser('fr-CH')).toBe('es');
    await visit.change('edit-profile', named({ locale: 'de-ch' }));
    expect([await inBrowser('fr-CH'), await inBrowser('ja')]).toEqual(['de', 'de']);
    expect((await stored(user.id)).attributes).toMatchObject({ locale: 'de-CH', preferredLanguage: 'de-CH' });
    await giveFactor(user);
    const fresh = await visitOf(user, ['swk', 'otp', 'mfa']);
    await fresh.change('renew-recovery-codes', {}, { 'accept-language': 'fr' });
    expect(await world.subjectsFor(address)).toContain('Neue Wiederherstellungscodes für Example');
    await visit.change('edit-profile', named({ locale: 'hu' }));
    expect([await inBrowser('fr-CH'), await inBrowser('hu')]).toEqual(['fr', 'en']);
    await visit.change('edit-profile', named({ locale: '' }));
    expect((await stored(user.id)).attributes).not.toHaveProperty('preferredLanguage');
  });

  it('cannot set anything else', async () => {
    const { user, visit } = await registeredUser();
    const before = await stored(user.id);
    const others = {
      userName: 'root',
      email: 'root@example.com',
      phone: '+41791234567',
      active: 'false',
      groups: 'admins',
    };
    await visit.change('edit-profile', named({ ...others, attributes: '{}', roles: 'admin', birthdate: '1990-12-31' }));
    await visit.change('edit-birthdate', named({ ...others, displayName: 'Root' }));
    expect(await stored(user.id)).toMatchObject({
      version: before.version,
      userName: before.userName,
      email: before.email,
    });
  });

  it('needs a fresh sign-in for the date of birth and the address', async () => {
    const { user, visit } = await registeredUser();
    app.clock.turn(301);
    for (const [change, fields] of [
      ['edit-birthdate', named({ birthdate: '1990-12-31' })],
      ['edit-address', { country: 'CH' }],
    ] as const) {
      expect((await visit.change(change, fields)).status).toBe(403);
    }
    expect((await visit.change('edit-profile', named({ givenName: 'Ada' }))).status).toBe(303);
    expect(profileOf(await stored(user.id))).not.toHaveProperty('birthdate');
  });

  it('stays editable if the directory is authoritative, which locks the phone alone', async () => {
    await world.begin({ scimEnabled: true, scimAuthoritative: true });
    const { user, visit } = await registeredUser();
    await app.services.accounts.change(
      world.project.id,
      user.id,
      (now) => ({ ...valuesOf(now), displayName: 'Given' }),
      { kind: 'scim', id: 'd' },
    );
    for (const [change, fields] of [
      ['edit-profile', named({ displayName: 'Own', givenName: 'Ada' })],
      ['edit-address', { country: 'CH' }],
      ['edit-birthdate', named({ birthdate: '1990-12-31' })],
    ] as const) {
      expect((await visit.change(change, fields)).status).toBe(303);
    }
    expect(await stored(user.id)).toMatchObject({ displayName: 'Own', givenName: 'Ada', provenance: 'scim' });
  });

  it('is locked if a claim of an application is mapped from it', async () => {
    await world.begin();
    const { user, visit } = await registeredUser();
    const { client } = await app.make.client(world.project);
    const mappings = [
      { claim: 'tier', attribute: 'address.region' },
      { claim: 'handle', template: '${name.givenName}@x' },
    ];
    await app.services.claims.update(client, { mappings }, system);
    expect((await visit.change('edit-profile', named({ givenName: 'Ada' }))).status).toBe(403);
    expect((await visit.change('edit-address', { region: 'gold' })).status).toBe(403);
    expect((await visit.change('edit-profile', named({ familyName: 'Lovelace' }))).status).toBe(303);
    expect((await stored(user.id)).givenName ?? null).toBeNull();
    expect(await visit.page()).toContain('relies on some of it');
  });

  it.each([
    ['displayName', 'edit-profile', named({ displayName: 'Ada' })],
    ['name.givenName', 'edit-profile', named({ givenName: 'Ada' })],
    ['name.familyName', 'edit-profile', named({ familyName: 'Lovelace' })],
    ['locale', 'edit-profile', named({ locale: 'de' })],
    ['timezone', 'edit-profile', named({ zoneinfo: 'Europe/Zurich' })],
    ['birthdate', 'edit-birthdate', named({ birthdate: '1990-12-31' })],
    ...['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'].map(
      (part) => [`address.${part}`, 'edit-address', { country: 'CH' }] as const,
    ),
  ] as const)('locks %s for as long as a claim is mapped from it', async (attribute, change, fields) => {
    const { visit } = await registeredUser();
    const { client } = await app.make.client(world.project);
    const statusWith = async (mappings: object[]) => {
      await app.services.claims.update(client, { mappings } as never, system);
      return (await visit.change(change, fields)).status;
    };
    expect(await statusWith([{ claim: 'tier', attribute }])).toBe(403);
    expect(await statusWith([])).toBe(303);
  });
});
