import type { UserValues } from '../users/user-record.ts';
import type { UpstreamPerson } from './upstream-request.entity.ts';

/** The values of a user, updated from the provider's profile; absent ones stay. Pure. */
export function withProfile(values: UserValues, { locale, ...names }: UpstreamPerson['profile']): UserValues {
  const attributes = locale === undefined ? values.attributes : { ...values.attributes, locale };
  return { ...values, ...names, attributes };
}

/** The values of a new user, with the address as user name and login address. Pure. */
export function newProfile(address: string, profile: UpstreamPerson['profile']): UserValues {
  const values: UserValues = {
    userName: address,
    externalId: null,
    displayName: null,
    givenName: null,
    familyName: null,
    active: true,
    attributes: { emails: [{ value: address, type: 'work', primary: true }] },
  };
  return withProfile(values, profile);
}
