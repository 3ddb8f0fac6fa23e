import {
  type Application,
  type Data,
  dataOf,
  listOf,
  newPerson,
  type Person,
  textOf,
  textsOf,
  withPhone,
  withTotp,
} from './person.ts';

/** Realm roles and clients that every realm has. */
const builtInRoles = /^(default-roles-.*|offline_access|uma_authorization)$/;
const builtInClients = [
  ...['account', 'account-console', 'admin-cli', 'broker', 'realm-management', 'security-admin-console'],
];

/** A user of a realm export (`UserRepresentation`). Realm roles become groups. */
export function keycloakPerson(user: Data): Person {
  const attributes = dataOf(user['attributes']);
  const attribute = (name: string) => textsOf(attributes[name])[0];
  const person: Person = {
    ...newPerson(String(user['id'] ?? '')),
    userName: textOf(user['username']),
    email: textOf(user['email']),
    isVerified: user['emailVerified'] === true,
    givenName: textOf(user['firstName']),
    familyName: textOf(user['lastName']),
    displayName: [user['firstName'], user['lastName']].map(textOf).filter(Boolean).join(' ') || undefined,
    locale: attribute('locale'),
    zoneinfo: attribute('zoneinfo'),
    birthdate: attribute('birthdate'),
    isActive: user['enabled'] !== false,
    groups: [
      ...textsOf(user['groups']).map((path) => path.replace(/^\//, '')),
      ...textsOf(user['realmRoles'])
        .filter((role) => !builtInRoles.test(role))
        .map((role) => `role:${role}`),
    ],
    roles: Object.entries(dataOf(user['clientRoles'])).flatMap(([client, keys]) =>
      builtInClients.includes(client) ? [] : textsOf(keys).map((key) => ({ client, key })),
    ),
  };
  withPhone(person, attribute('phoneNumber'), attribute('phoneNumberVerified') === 'true');
  for (const credential of listOf(user['credentials'])) withCredential(person, credential);
  if (textOf(user['serviceAccountClientId']) !== undefined) person.left.push('service account');
  return person;
}

function withCredential(person: Person, credential: Data): void {
  const [open, secret] = [partOf(credential['credentialData']), partOf(credential['secretData'])];
  switch (credential['type']) {
    case 'otp': {
      const value = textOf(secret['value']);
      const isPlain =
        open['subType'] === 'totp' && open['digits'] === 6 && open['period'] === 30 && open['algorithm'] === 'HmacSHA1';
      if (!isPlain) person.left.push('TOTP: not of SHA-1, 6 digits and 30 seconds');
      else
        withTotp(
          person,
          open['secretEncoding'] === 'BASE32' || value === undefined ? value : base32(Buffer.from(value)),
        );
      return;
    }
    case 'webauthn-passwordless':
      person.passkeys.push({
        credentialId: base64url(open['credentialId']),
        publicKey: base64url(open['credentialPublicKey']),
        signCount: Number(open['counter'] ?? 0),
        aaguid: textOf(open['aaguid']) ?? '00000000-0000-0000-0000-000000000000',
        transports: textsOf(open['transports']).map((name) => name.toLowerCase()),
      });
      return;
    case 'webauthn':
      person.left.push('security key of a second factor: it cannot sign in without a password');
      return;
    default:
      person.left.push(`${String(credential['type'] ?? 'credential')}: not taken`);
  }
}

/** A client of a realm (`ClientRepresentation`). Null: it is Keycloak's own, or not of OpenID Connect. */
export function keycloakApplication(client: Data): Application | null {
  const id = textOf(client['clientId']);
  const isOwn = id === undefined || builtInClients.includes(id) || id.endsWith('-realm');
  if (isOwn || client['bearerOnly'] === true || (client['protocol'] ?? 'openid-connect') !== 'openid-connect')
    return null;
  const uris = textOf(dataOf(client['attributes'])['post.logout.redirect.uris']);
  return {
    id,
    name: textOf(client['name'])?.replace(/^\$\{.*\}$/, id) ?? id,
    redirectUris: textsOf(client['redirectUris']),
    postLogoutRedirectUris: uris?.split('##').filter((uri) => uri !== '+') ?? [],
    isConfidential: client['publicClient'] !== true,
    isMachine: client['serviceAccountsEnabled'] === true,
    hasRefreshTokens: client['standardFlowEnabled'] !== false,
    roles: [],
  };
}

/** The members `credentialData` and `secretData` are JSON in text. */
function partOf(value: unknown): Data {
  try {
    return dataOf(typeof value === 'string' ? JSON.parse(value) : value);
  } catch {
    return {};
  }
}

/** From base64 or base64url. */
const base64url = (value: unknown) => Buffer.from(String(value ?? ''), 'base64').toString('base64url');

/** RFC 4648 section 6, without padding. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
