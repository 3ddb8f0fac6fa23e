import {
  type Application,
  type Data,
  listOf,
  newPerson,
  type Person,
  textOf,
  textsOf,
  withPhone,
  withTotp,
} from './person.ts';

/** A user of an export or of the Management API. `user_id` of an export without its connection is completed by the identity. */
export function auth0Person(user: Data): Person {
  const id = textOf(user['user_id']) ?? textOf(user['id']) ?? '';
  const email = textOf(user['email']);
  const person: Person = {
    ...newPerson(id.includes('|') || id === '' ? id : `auth0|${id}`),
    userName: textOf(user['username']),
    email,
    isVerified: user['email_verified'] === true || user['email_verified'] === 'true',
    givenName: textOf(user['given_name']),
    familyName: textOf(user['family_name']),
    displayName: textOf(user['name']) === email ? undefined : textOf(user['name']),
    locale: textOf(user['locale'])?.replace('_', '-'),
    isActive: user['blocked'] !== true,
  };
  withPhone(person, user['phone_number'], user['phone_verified'] === true);
  for (const factor of listOf(user['mfa_factors'])) {
    const { totp } = factor as { totp?: { secret?: unknown } };
    if (totp) withTotp(person, textOf(totp.secret));
    else person.left.push(`${Object.keys(factor)[0] ?? 'factor'}: not taken`);
  }
  if (user['password_hash'] !== undefined || user['custom_password_hash'] !== undefined)
    person.left.push('password: not taken');
  return person;
}

/** A client of the Management API. Null: Auth0's own, which is global. */
export function auth0Application(client: Data): Application | null {
  const id = textOf(client['client_id']);
  if (id === undefined || client['global'] === true) return null;
  const grants = textsOf(client['grant_types']);
  return {
    id,
    name: textOf(client['name']) ?? id,
    redirectUris: textsOf(client['callbacks']),
    postLogoutRedirectUris: textsOf(client['allowed_logout_urls']),
    isConfidential: (client['token_endpoint_auth_method'] ?? 'client_secret_post') !== 'none',
    isMachine: grants.includes('client_credentials') && client['app_type'] === 'non_interactive',
    hasRefreshTokens: grants.includes('refresh_token'),
    roles: [],
  };
}
