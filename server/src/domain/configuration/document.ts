import { checkedApi, checkIdentifier } from '../apis/api-settings.ts';
import { type ClaimSettings, changedSettings, defaultClaimSettings } from '../claims/claim-settings.ts';
import type { Client } from '../clients/client.entity.ts';
import { clientFields } from '../clients/client.resource.ts';
import type { Clients } from '../clients/clients.ts';
import { checkContent } from '../experience/content.ts';
import { checkLogo } from '../experience/logo-file.ts';
import { refuse } from '../kernel/problem.ts';
import { exportedNamesOf } from '../kernel/resource.ts';
import { digest } from '../kernel/secret.ts';
import { projectFields, sessionPolicyFields } from '../projects/project.resource.ts';
import type { Projects } from '../projects/projects.ts';
import { checkedSlug } from '../projects/slug.ts';
import { checkedRole, checkRoleKey, type RoleValues } from '../roles/roles.ts';
import { checkedDefinition } from '../users/custom/definition.ts';
import { checkedDomain, checkedStream, checkedWebhook, type ReceiverChecks, receiverNames } from './receivers.ts';
import { at, knownOnly, objectIn, textIn, type Values } from './values.ts';

/** Settings of a project that are compared and written together. */
export interface Part {
  kind: Kind;
  /** Names its resource below the project: an application, then a role. Empty for settings of the project itself. */
  keys: readonly string[];
  values: Values;
}

/** In the order of their creation; removed in the reverse order. */
export const kinds = [
  'settings',
  'sessionPolicy',
  'customAttributes',
  'apis',
  'applications',
  'roles',
  'claims',
  'apiAccess',
  'branding',
  'domains',
  'webhooks',
  'logStreams',
] as const;
export type Kind = (typeof kinds)[number];

/** The wanted settings of a project. */
export interface WantedProject {
  slug: string;
  parts: Part[];
  /** Lists of resources that the document contains, as `kind` and the keys of their owner: they are complete. */
  complete: Set<string>;
  /** Logos by their digest. */
  files: Map<string, Uint8Array>;
  /** Secrets by their digest. */
  secrets: Map<string, string>;
}

/** The setting names of each kind; those of a list also have the name that identifies a resource. */
export const names = {
  settings: exportedNamesOf(projectFields),
  sessionPolicy: exportedNamesOf(sessionPolicyFields),
  customAttributes: [
    ...['name', 'description', 'type', 'multiValued', 'required', 'caseExact', 'mutability', 'returned'],
    ...['uniqueness', 'indexed', 'visibleTo', 'alias', 'subAttributes'],
  ],
  apis: ['identifier', 'name', 'scopes', 'accessTokenTtlSeconds'],
  applications: exportedNamesOf(clientFields),
  roles: ['key', 'name', 'description'],
  claims: ['groups', 'groupPrefix', 'listLimit', 'rolesClaim', 'directoryRoles', 'mappings'],
  apiAccess: ['identifier', 'scopes', 'introspects'],
  branding: ['displayName', 'accent', 'logo', 'darkLogo', 'texts'],
  ...receiverNames,
} as const satisfies Record<Kind, readonly string[]>;

/** The name that identifies a resource of a list. */
const idNames: Partial<Record<Kind, string>> = {
  ...{ customAttributes: 'name', apis: 'identifier', applications: 'name', roles: 'key', apiAccess: 'identifier' },
  ...{ domains: 'host', webhooks: 'url', logStreams: 'target' },
};

/** The validators of the admin API, and the base address. */
export interface Checking extends ReceiverChecks {
  projects: Pick<Projects, 'check' | 'checkPolicy'>;
  clients: Pick<Clients, 'check'>;
  issuer: string;
}

/**
 * Reads a document. Absent settings are left as they are; a list of resources is complete if it is present. Refuses
 * `invalid` with the path of the setting, by the validators of the admin API.
 */
export function readProject(document: unknown, checking: Checking): WantedProject {
  const whole = objectIn(document, 'The document');
  const lists = ['customAttributes', 'apis', 'applications', 'domains', 'webhooks', 'logStreams'] as const;
  const singles = ['settings', 'sessionPolicy', 'branding'] as const;
  knownOnly(whole, ['slug', ...singles, ...lists], '');
  const wanted: WantedProject = {
    slug: at('slug', () => checkedSlug(whole['slug'] as string)),
    parts: [],
    complete: new Set(),
    files: new Map(),
    secrets: new Map(),
  };
  for (const kind of singles) if (whole[kind] !== undefined) readPart(wanted, kind, [], whole[kind], kind, checking);
  for (const kind of lists) {
    if (whole[kind] !== undefined) readList(wanted, kind, [], whole[kind], kind, checking);
  }
  return wanted;
}

function readList(
  wanted: WantedProject,
  kind: Kind,
  owner: readonly string[],
  list: unknown,
  path: string,
  checking: Checking,
): void {
  if (!Array.isArray(list)) refuse({ code: 'invalid', field: path, reason: 'must be a list' });
  wanted.complete.add(pathOf(kind, owner));
  const idName = idNames[kind] as string;
  const seen = new Set<string>();
  for (const [index, item] of (list as unknown[]).entries()) {
    const here = `${path}[${index}]`;
    const values = { ...objectIn(item, here) };
    const id = values[idName];
    if (typeof id !== 'string' || id === '')
      refuse({ code: 'invalid', field: `${here}.${idName}`, reason: 'is required' });
    if (seen.has(id as string)) refuse({ code: 'invalid', field: `${here}.${idName}`, reason: 'occurs twice' });
    seen.add(id as string);
    const keys = [...owner, id as string];
    const { roles, claims, apiAccess, ...own } = kind === 'applications' ? values : ({ ...values } as Values);
    readPart(wanted, kind, keys, own, here, checking);
    if (kind !== 'applications') continue;
    if (roles !== undefined) readList(wanted, 'roles', keys, roles, `${here}.roles`, checking);
    if (claims !== undefined) readPart(wanted, 'claims', keys, claims, `${here}.claims`, checking);
    if (apiAccess !== undefined) readList(wanted, 'apiAccess', keys, apiAccess, `${here}.apiAccess`, checking);
  }
}

function readPart(
  wanted: WantedProject,
  kind: Kind,
  keys: readonly string[],
  given: unknown,
  path: string,
  checking: Checking,
): void {
  const values = objectIn(given, path);
  knownOnly(values, names[kind], path);
  const checked = at(path, () => checks[kind](values, checking, wanted));
  // Absent values stay as they are, even if the validator adds defaults.
  const own = Object.fromEntries(Object.keys(values).map((name) => [name, checked[name]]));
  wanted.parts.push({ kind, keys, values: own });
}

/** Names a list of resources, or a part. */
export const pathOf = (kind: Kind, keys: readonly string[]): string => [kind, ...keys].join('\n');

const checks: Record<Kind, (values: Values, checking: Checking, wanted: WantedProject) => Values> = {
  settings: (values, { projects }) => ({ ...projects.check(values as never) }),
  sessionPolicy: (values, { projects }) => projects.checkPolicy(values),
  customAttributes: (values) => ({ ...checkedDefinition(values as never) }),
  apis: (values, { issuer }) => ({
    ...checkedApi(values as never),
    identifier: checkIdentifier(values['identifier'], issuer),
  }),
  applications: (values, { clients }) => clientValues(clients.check(values as never)),
  roles(values) {
    checkRoleKey(values['key']);
    return { description: null, ...checkedRole(values as Partial<RoleValues>), key: values['key'] };
  },
  claims: (values) => claimValues(changedSettings(defaultClaimSettings, values as never)),
  apiAccess({ identifier, scopes = [], introspects = false }) {
    if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== 'string')) {
      refuse({ code: 'invalid', field: 'scopes', reason: 'must be a list of scopes' });
    }
    if (typeof introspects !== 'boolean')
      refuse({ code: 'invalid', field: 'introspects', reason: 'must be true or false' });
    return { identifier, scopes: [...(scopes as string[])].sort(), introspects };
  },
  branding(values, _, { files }) {
    const { displayName, accent, texts } = checkContent({
      displayName: textIn(values, 'displayName'),
      accent: textIn(values, 'accent'),
      texts: textsIn(values['texts']),
    });
    return {
      displayName,
      accent,
      texts,
      logo: logoIn(values, 'logo', files),
      darkLogo: logoIn(values, 'darkLogo', files),
    };
  },
  domains: checkedDomain,
  webhooks: checkedWebhook,
  logStreams: checkedStream,
};

function textsIn(texts: unknown): { locale: string; key: string; text: string }[] {
  return Object.entries(objectIn(texts ?? {}, 'texts')).flatMap(([locale, ofLocale]) =>
    Object.entries(objectIn(ofLocale, `texts.${locale}`)).map(([key, text]) => ({ locale, key, text: String(text) })),
  );
}

/** The digest of a logo's bytes. */
function logoIn(values: Values, name: string, files: Map<string, Uint8Array>): string | null {
  const bytes = values[name] ?? null;
  if (bytes === null) return null;
  if (!(bytes instanceof Uint8Array)) refuse({ code: 'invalid', field: name, reason: 'must be a file' });
  at(name, () => checkLogo(bytes as Uint8Array));
  const id = digest(bytes as Uint8Array);
  files.set(id, bytes as Uint8Array);
  return id;
}

/** Settings of an application as the document contains them. */
export function clientValues({ jwk, jwkSet, disabledAt, ...rest }: Partial<Client>): Values {
  const keys = jwkSet ?? (jwk ? [jwk] : null);
  const all: Values = { ...rest, jwks: keys && { keys }, disabled: disabledAt != null };
  // The kind is unknown for applications from before release 1.0, and cannot be cleared.
  const known = names.applications.filter((name) => name in all && (name !== 'kind' || all[name] != null));
  return Object.fromEntries(known.map((name) => [name, all[name]]));
}

export function claimValues(settings: ClaimSettings): Values {
  return Object.fromEntries(names.claims.map((name) => [name, settings[name]]));
}
