import { expect, it } from 'vitest';
import { languageTagOf, type ProfileSource, profileOf } from './profile.ts';

const noValues: ProfileSource = {
  displayName: null,
  givenName: null,
  familyName: null,
  email: null,
  phone: null,
  attributes: {},
  updatedAt: new Date('2026-03-01T12:00:00.900Z'),
};

it('maps all attributes to OpenID Connect claims', () => {
  const profile = profileOf({
    displayName: 'Babs',
    givenName: 'Barbara',
    familyName: 'Jensen',
    email: 'b@example.com',
    phone: '+41790000001',
    attributes: {
      locale: 'en_US',
      timezone: 'Europe/Zurich',
      addresses: [
        { locality: 'Bern' },
        { primary: true, locality: 'Basel', streetAddress: 'Rheinweg 1', country: 'CH' },
      ],
    },
    updatedAt: noValues.updatedAt,
  });
  expect(profile).toEqual({
    name: 'Babs',
    given_name: 'Barbara',
    family_name: 'Jensen',
    email: 'b@example.com',
    email_verified: true,
    phone_number: '+41790000001',
    address: { street_address: 'Rheinweg 1', locality: 'Basel', country: 'CH' },
    locale: 'en-US',
    zoneinfo: 'Europe/Zurich',
    updated_at: 1772366400,
  });
});

it('omits missing and blank values', () => {
  expect(profileOf(noValues)).toEqual({ updated_at: 1772366400 });
  const blank = { displayName: ' ', givenName: '', attributes: { addresses: [{ type: 'work' }], locale: '' } };
  expect(profileOf({ ...noValues, ...blank })).toEqual({ updated_at: 1772366400 });
});

it('takes the name from display name, formatted name, or given and family name', () => {
  const names = { givenName: 'Ada', familyName: 'Lovelace' };
  expect(profileOf({ ...noValues, ...names }).name).toBe('Ada Lovelace');
  expect(profileOf({ ...noValues, familyName: 'Lovelace' }).name).toBe('Lovelace');
  expect(profileOf({ ...noValues, ...names, attributes: { name: { formatted: 'Countess' } } }).name).toBe('Countess');
});

it('prefers the locale of the user as a claim, and their preferred language in texts', () => {
  const of = (attributes: Record<string, unknown>) => [
    profileOf({ ...noValues, attributes }).locale,
    languageTagOf(attributes),
  ];
  expect(of({ locale: 'fr_CH', preferredLanguage: 'de-AT, en;q=0.8' })).toEqual(['fr-CH', 'de-AT']);
  expect(of({ preferredLanguage: 'de-AT;q=0.9, en' })).toEqual(['de-AT', 'de-AT']);
  expect(of({ locale: 'ja', preferredLanguage: ' ' })).toEqual(['ja', 'ja']);
  expect(of({ preferredLanguage: 7 })).toEqual([undefined, undefined]);
});
