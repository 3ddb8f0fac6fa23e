import { isDeepStrictEqual } from 'node:util';
import type { TransferRecord } from '../adapters/files/transfer.ts';
import type { ApiSettings } from '../domain/apis/api-settings.ts';
import { changedSettings, defaultClaimSettings } from '../domain/claims/claim-settings.ts';
import { clientFields } from '../domain/clients/client.resource.ts';
import { checkAppSchemes, checkKey } from '../domain/clients/clients.ts';
import { checkFapi } from '../domain/clients/fapi.ts';
import { passkeyKeyOf } from '../domain/credentials/authenticator-data.ts';
import { credentialIdOf } from '../domain/credentials/passkey-values.ts';
import { parsePublicPem, thumbprint } from '../domain/delegation/key-pem.ts';
import { checkContent, type ExperienceInput } from '../domain/experience/content.ts';
import { checkLogo } from '../domain/experience/logo-file.ts';
import { cleanName } from '../domain/kernel/name.ts';
import { Refusal, refuse } from '../domain/kernel/problem.ts';
import { publicKeyFault } from '../domain/kernel/public-keys/public-key.ts';
import { columnNamesOf } from '../domain/kernel/resource.ts';
import { digest, isStorableText } from '../domain/kernel/secret.ts';
import { checkedNetworks } from '../domain/projects/networks.ts';
import { projectFields, sessionPolicyFields } from '../domain/projects/project.resource.ts';
import { checkedSlug } from '../domain/projects/slug.ts';
import { checkedRole, checkHolder, checkRoleKey } from '../domain/roles/roles.ts';
import type { CustomAttribute } from '../domain/users/custom/custom-schema.entity.ts';
import { checkedDefinition, checkNames } from '../domain/users/custom/definition.ts';
import { isE164 } from '../domain/users/login.ts';
import type { Services } from '../services.ts';
import { importedUser } from './transfer-users.ts';

type Data = Record<string, unknown>;
type Checking = Pick<Services, 'projects' | 'clients' | 'apis' | 'domains'>;

const maxGroupName = 512;

type ColumnsOf<Settings> = Record<keyof Settings, string>;

/** Columns of settings, by their name in the admin API. A setting without its column does not compile. */
const columns = {
  project: columnNamesOf(projectFields),
  sessionPolicy: columnNamesOf(sessionPolicyFields),
  client: { ...columnNamesOf(clientFields), jwks: 'jwk' },
  api: {
    ...{ identifier: 'identifier', name: 'name', scopes: 'scopes', accessTokenTtlSeconds: 'access_token_ttl_seconds' },
    thirdPartyAccess: 'third_party_access',
    tokenExchange: 'token_exchange',
    userKeys: 'user_keys',
  } satisfies ColumnsOf<ApiSettings & { identifier: string }>,
  claimSettings: {
    ...{ groups: 'groups', groupPrefix: 'group_prefix', listLimit: 'list_limit', rolesClaim: 'roles_claim' },
    ...{ directoryRoles: 'directory_roles', mappings: 'mappings' },
  },
} as const;

/** Earlier records of the file that later ones depend on. */
export class FileFacts {
  /** Scopes of APIs, by id. */
  readonly scopes = new Map<unknown, readonly unknown[]>();
  /** Clients that get no tokens for APIs: third parties without `client_credentials`. */
  readonly withoutApis = new Set<unknown>();
}

/** Validates a record like the admin API. Returns `{field} {reason}`, or null if valid. */
export function faultOf(
  { type, data }: TransferRecord,
  services: Checking,
  now: Date,
  facts: FileFacts,
): string | null {
  try {
    checks[type]?.(data, services, now, facts);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem.code !== 'invalid') throw error;
    return `${error.problem.field} ${error.problem.reason}`;
  }
}

const checks: Record<string, (data: Data, services: Checking, now: Date, facts: FileFacts) => void> = {
  project(data, { projects }) {
    projects.check(settingsOf(data, columns.project));
    if (data['slug'] !== undefined) checkedSlug(data['slug'] as string);
    projects.checkPolicy(settingsOf(data, columns.sessionPolicy));
  },
  client(data, { clients }, _now, facts) {
    const { kind, ...settings } = settingsOf(data, columns.client);
    const { jwk, jwk_set: set } = data;
    if (jwk != null && set != null) {
      refuse({ code: 'invalid', field: 'jwks', reason: 'must be in jwk or in jwk_set, not in both' });
    }
    const checked = clients.check({
      ...settings,
      ...(kind == null ? {} : { kind }),
      ...(set == null ? {} : { jwks: { keys: set } }),
    });
    checkKey(checked);
    checkAppSchemes(checked);
    checkFapi(checked);
    if (checked.thirdParty && !checked.grantTypes?.includes('client_credentials')) facts.withoutApis.add(data['id']);
  },
  api(data, { apis }, _now, facts) {
    const settings = { identifier: '', ...settingsOf(data, columns.api) } as ApiSettings & { identifier: string };
    apis.check(settings);
    facts.scopes.set(
      data['id'],
      (settings.scopes ?? []).map(({ key }) => key),
    );
  },
  'api-grant'({ api_id, client_id, scopes = [], introspects = false }, _services, _now, facts) {
    const known = facts.scopes.get(api_id);
    if (!Array.isArray(scopes) || (known && !scopes.every((scope) => known.includes(scope)))) {
      refuse({ code: 'invalid', field: 'scopes', reason: 'must contain only scopes of the API' });
    }
    if (scopes.length > 0 && facts.withoutApis.has(client_id)) {
      refuse({ code: 'invalid', field: 'scopes', reason: 'must be empty for a third-party application' });
    }
    if (typeof introspects === 'boolean') return;
    refuse({ code: 'invalid', field: 'introspects', reason: 'must be true or false' });
  },
  role({ key, name, description }) {
    checkRoleKey(key);
    checkedRole({ name: name as string, description: description as string | null });
  },
  'role-assignment'({ user_id, group_id }) {
    checkHolder({
      userId: (user_id ?? undefined) as string | undefined,
      groupId: (group_id ?? undefined) as string | undefined,
    });
  },
  'access-rule'({ user_id, group_id, role_id }) {
    if ([user_id, group_id, role_id].filter((one) => one != null).length === 1) return;
    refuse({
      code: 'invalid',
      field: 'userId',
      reason: 'must be given if neither groupId nor roleId is, and only then',
    });
  },
  'custom-schema'({ attributes }) {
    const definitions = (attributes ?? []) as CustomAttribute[];
    checkNames(definitions);
    if (isDeepStrictEqual(definitions.map(checkedDefinition), definitions)) return;
    refuse({ code: 'invalid', field: 'attributes', reason: 'have an unknown member' });
  },
  'claim-settings'(data) {
    const { mappings } = changedSettings(defaultClaimSettings, settingsOf(data, columns.claimSettings));
    // Stored as in the file.
    if (isDeepStrictEqual(mappings, data['mappings'])) return;
    refuse({ code: 'invalid', field: 'mappings', reason: 'have an unknown member' });
  },
  user(data, _services, now) {
    importedUser(data, undefined, now);
  },
  group({ display_name: name, provenance = 'scim' }) {
    if (provenance === 'local') cleanName(name as string, 'displayName');
    if (typeof name === 'string' && name.length <= maxGroupName && isStorableText(name) && name.trim() !== '') return;
    refuse({ code: 'invalid', field: 'displayName', reason: `must be text of at most ${maxGroupName} characters` });
  },
  'scim-token'({ name, networks = [] }) {
    cleanName(name as string);
    if (Array.isArray(networks) && networks.every((one) => typeof one === 'string'))
      checkedNetworks(networks, { field: 'networks' });
    else refuse({ code: 'invalid', field: 'networks', reason: 'must be a list of text' });
  },
  'custom-domain'({ host }, { domains }) {
    if (domains.checkHost(String(host)) === host) return;
    refuse({ code: 'invalid', field: 'host', reason: 'must be in lower case and ASCII' });
  },
  device(data) {
    const { kind = 'device-key', name, public_jwk: key, jkt } = data;
    cleanName(name as string);
    if (kind === 'passkey') checkPasskey(data);
    if (kind !== 'device-key') return;
    const { kty, crv, x, y } = (key ?? {}) as Data;
    if (kty !== 'EC' || crv !== 'P-256' || publicKeyFault({ kty, crv, x, y }) !== null) {
      refuse({ code: 'invalid', field: 'publicJwk', reason: 'must be a public key on P-256' });
    }
    // RFC 7638 section 3.
    if (jkt === digest(JSON.stringify({ crv, kty, x, y }))) return;
    refuse({ code: 'invalid', field: 'jkt', reason: 'is not the thumbprint of the key' });
  },
  enrolment({ phone }) {
    if (phone == null || (typeof phone === 'string' && isE164(phone))) return;
    refuse({ code: 'invalid', field: 'phone', reason: 'must be an E.164 number' });
  },
  logo({ type, bytes, width, height }) {
    const file = checkLogo(Buffer.from(String(bytes).replace(/^\\x/, ''), 'hex'));
    if (file.type !== type) refuse({ code: 'invalid', field: 'type', reason: 'does not match the image' });
    if (file.width === width && file.height === height) return;
    refuse({ code: 'invalid', field: 'width', reason: 'and height do not match the image' });
  },
  experience({ content }) {
    const { texts, ...rest } = (content ?? {}) as ExperienceInput & { texts?: Record<string, Record<string, string>> };
    const entries = Object.entries(texts ?? {}).flatMap(([locale, ofLocale]) =>
      Object.entries(ofLocale).map(([key, text]) => ({ locale, key, text: String(text) })),
    );
    checkContent({ ...rest, texts: entries });
  },
  'delegation-key'({ signing_public_pem, encryption_public_pem, signing_kid, encryption_kid }) {
    const signing = parsePublicPem(String(signing_public_pem), 'ed25519', 'signingKey');
    const encryption = parsePublicPem(String(encryption_public_pem), 'x25519', 'encryptionKey');
    if (thumbprint(signing) === signing_kid && thumbprint(encryption) === encryption_kid) return;
    refuse({ code: 'invalid', field: 'signingKid', reason: 'and encryptionKid are not the thumbprints of the keys' });
  },
};

/** A key that registration would have accepted, stored under the name that its authenticator chose. */
function checkPasskey({ credential_id: id, public_key: key, cose_alg: alg }: Data): void {
  if (credentialIdOf({ id }) === null) {
    refuse({ code: 'invalid', field: 'credentialId', reason: 'must be base64url of at most 1364 characters' });
  }
  if (typeof key === 'string' && passkeyKeyOf(key)?.alg === alg) return;
  refuse({ code: 'invalid', field: 'publicKey', reason: 'must be a COSE key of its algorithm that passkeys may have' });
}

function settingsOf(data: Data, names: Record<string, string>): Record<string, never> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, column]) => (column in data ? [[name, data[column] as never]] : [])),
  );
}
