import { checkedApi, checkIdentifier } from '../apis/api-settings.ts';
import { type ClaimSettings, changedSettings, defaultClaimSettings } from '../claims/claim-settings.ts';
import type { Client } from '../clients/client.entity.ts';
import { clientFields } from '../clients/client.resource.ts';
import type { Clients } from '../clients/clients.ts';
import { checkedClientSecret } from '../connections/connection-settings.ts';
import { checkContent } from '../experience/content.ts';
import { checkLogo } from '../experience/logo-file.ts';
import { refuse } from '../kernel/problem.ts';
import { exportedNamesOf } from '../kernel/resource.ts';
import { digest } from '../kernel/secret.ts';
import { projectFields, sessionPolicyFields } from '../projects/project.resource.ts';
import type { Projects } from '../projects/projects.ts';
import { checkedSlug } from '../projects/slug.ts';
import { checkedRole, checkRoleKey, type RoleValues } from '../roles/roles.ts';
import type { IdentityProvider } from '../saml/messages/metadata.ts';
import { checkedDefinition } from '../users/custom/definition.ts';
import { ruleHolder } from './access.ts';
import { checkedConnection } from './connection-values.ts';
import {
  checkedMailDomain,
  checkedOrganization,
  checkedOrganizationRole,
  type OrganizationChecks,
  organizationKinds,
} from './organizations.ts';
import { checkedDomain, checkedStream, checkedWebhook, kept, type ReceiverChecks, receiverNames } from './receivers.ts';
import { at, knownOnly, objectIn, textIn, type Values } from './values.ts';

/** Settings of a project that are compared and written together. */
export interface Part {
  kind: Kind;
  /** Names its resource below the project: an application, then a role. Empty for settings of the project itself. */
  keys: readonly string[];
  values: Values;
}

/** The wanted settings of a project. */
export interface WantedProject extends Kept {
  slug: string;
  parts: Part[];
  /** Lists of resources that the document contains, as `kind` and the keys of their owner: they are complete. */
  complete: Set<string>;
}

interface Kept {
  /** Logos by their digest. */
  files: Map<string, Uint8Array>;
  /** Secrets by their digest. */
  secrets: Map<string, string>;
  /** Metadata of SAML providers by its address: read before the document is applied. */
  providers: Map<string, IdentityProvider>;
}

/** The validators of the admin API, and the base address. */
export interface Checking extends ReceiverChecks, OrganizationChecks {
  projects: Pick<Projects, 'check' | 'checkPolicy'>;
  clients: Pick<Clients, 'check'>;
  issuer: string;
}

/** A kind of settings in a document. */
interface DocumentKind {
  /** Its settings; those of a list also have the name that identifies a resource. */
  names: readonly string[];
  /** The name that identifies a resource of a list; absent: it is no list. */
  id?: string;
  /** The list whose resources it is part of; absent: the project itself. */
  owner?: string;
  /** A list names some resources of the project: the others stay, and are no differences. */
  isPartial?: true;
  /** The values as stored. Refuses `invalid`. */
  check(values: Values, checking: Checking, kept: Kept): Values;
}

/** Every kind, in the order of their creation; removed in the reverse order. */
export const documentKinds = {
  settings: {
    names: exportedNamesOf(projectFields),
    check: (values, { projects }) => ({ ...projects.check(values as never) }),
  },
  sessionPolicy: {
    names: exportedNamesOf(sessionPolicyFields),
    check: (values, { projects }) => projects.checkPolicy(values),
  },
  customAttributes: {
    names: [
      ...['name', 'description', 'type', 'multiValued', 'required', 'caseExact', 'mutability', 'returned'],
      ...['uniqueness', 'indexed', 'visibleTo', 'alias', 'subAttributes'],
    ],
    id: 'name',
    check: (values) => ({ ...checkedDefinition(values as never) }),
  },
  apis: {
    names: ['identifier', 'name', 'scopes', 'accessTokenTtlSeconds', 'thirdPartyAccess', 'tokenExchange', 'userKeys'],
    id: 'identifier',
    check: (values, { issuer }) => ({
      ...checkedApi(values as never),
      identifier: checkIdentifier(values['identifier'], issuer),
    }),
  },
  applications: {
    names: exportedNamesOf(clientFields),
    id: 'name',
    check: (values, { clients }) => clientValues(clients.check(values as never)),
  },
  roles: {
    names: ['key', 'name', 'description'],
    id: 'key',
    owner: 'applications',
    check(values) {
      checkRoleKey(values['key']);
      return { description: null, ...checkedRole(values as Partial<RoleValues>), key: values['key'] };
    },
  },
  claims: {
    names: ['groups', 'groupPrefix', 'listLimit', 'rolesClaim', 'directoryRoles', 'mappings'],
    owner: 'applications',
    check: (values) => claimValues(changedSettings(defaultClaimSettings, values as never)),
  },
  apiAccess: {
    names: ['identifier', 'scopes', 'introspects'],
    id: 'identifier',
    owner: 'applications',
    check({ identifier, scopes = [], introspects = false }) {
      if (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== 'string')) {
        refuse({ code: 'invalid', field: 'scopes', reason: 'must be a list of scopes' });
      }
      if (typeof introspects !== 'boolean')
        refuse({ code: 'invalid', field: 'introspects', reason: 'must be true or false' });
      return { identifier, scopes: [...(scopes as string[])].sort(), introspects };
    },
  },
  accessRules: {
    names: ['holder'],
    id: 'holder',
    owner: 'applications',
    check({ holder }) {
      ruleHolder(holder);
      return { holder };
    },
  },
  branding: {
    names: ['displayName', 'accent', 'logo', 'darkLogo', 'texts'],
    check(values, _, { files }) {
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
  },
  domains: {
    names: receiverNames.domains,
    id: 'host',
    check: checkedDomain,
  },
  webhooks: {
    names: receiverNames.webhooks,
    id: 'url',
    check: checkedWebhook,
  },
  logStreams: {
    names: receiverNames.logStreams,
    id: 'target',
    check: checkedStream,
  },
  organizationRoles: {
    names: organizationKinds.organizationRoles,
    id: 'key',
    check: checkedOrganizationRole,
  },
  organizations: {
    names: organizationKinds.organizations,
    id: 'slug',
    isPartial: true,
    check: checkedOrganization,
  },
  mailDomains: {
    names: organizationKinds.mailDomains,
    id: 'domain',
    owner: 'organizations',
    check: checkedMailDomain,
  },
  connections: {
    names: organizationKinds.connections,
    id: 'name',
    owner: 'organizations',
    check: (values, { connections }, { secrets }) =>
      checkedConnection(values, connections, (secret) => kept(secrets, checkedClientSecret(secret))),
  },
} as const satisfies Record<string, DocumentKind>;

export type Kind = keyof typeof documentKinds;
export const kinds = Object.keys(documentKinds) as Kind[];
const kindOf = (kind: Kind): DocumentKind => documentKinds[kind];

/** The kinds of one owner, in the order of a document: lists last. */
export function partsOf(owner?: Kind): { kind: Kind; isList: boolean; isPartial: boolean }[] {
  const own = kinds.filter((kind) => kindOf(kind).owner === owner);
  const parts = own.map((kind) => {
    const { id, isPartial = false } = kindOf(kind);
    return { kind, isList: id !== undefined, isPartial };
  });
  // A nested one keeps its place.
  return owner === undefined ? parts.sort((one, two) => Number(one.isList) - Number(two.isList)) : parts;
}

/**
 * Reads a document. Absent settings stay unchanged; a list of resources is complete if it is present. Refuses `invalid`
 * with the path of the setting, by the validators of the admin API.
 */
export function readProject(document: unknown, checking: Checking): WantedProject {
  const whole = objectIn(document, 'The document');
  const parts = partsOf();
  knownOnly(whole, ['slug', ...parts.map(({ kind }) => kind)], '');
  const wanted: WantedProject = {
    slug: at('slug', () => checkedSlug(whole['slug'] as string)),
    parts: [],
    complete: new Set(),
    files: new Map(),
    secrets: new Map(),
    providers: new Map(),
  };
  for (const part of parts) readGiven(wanted, part, [], whole[part.kind], part.kind, checking);
  return wanted;
}

function readGiven(
  wanted: WantedProject,
  { kind, isList }: { kind: Kind; isList: boolean },
  owner: readonly string[],
  given: unknown,
  path: string,
  checking: Checking,
): void {
  if (given === undefined) return;
  if (isList) readList(wanted, kind, owner, given, path, checking);
  else readPart(wanted, kind, owner, given, path, checking);
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
  if (!kindOf(kind).isPartial) wanted.complete.add(pathOf(kind, owner));
  const idName = kindOf(kind).id as string;
  const parts = partsOf(kind);
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
    const nested = parts.map((part) => ({ part, given: values[part.kind] }));
    for (const { part } of nested) delete values[part.kind];
    readPart(wanted, kind, keys, values, here, checking);
    for (const { part, given } of nested) readGiven(wanted, part, keys, given, `${here}.${part.kind}`, checking);
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
  knownOnly(values, kindOf(kind).names, path);
  const checked = at(path, () => kindOf(kind).check(values, checking, wanted));
  // Absent values stay unchanged, even if the validator adds defaults.
  const own = Object.fromEntries(Object.keys(values).map((name) => [name, checked[name]]));
  wanted.parts.push({ kind, keys, values: own });
}

/** Names a list of resources, or a part. */
export const pathOf = (kind: Kind, keys: readonly string[]): string => [kind, ...keys].join('\n');

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
  const known = documentKinds.applications.names.filter(
    (name) => name in all && (name !== 'kind' || all[name] != null),
  );
  return Object.fromEntries(known.map((name) => [name, all[name]]));
}

export function claimValues(settings: ClaimSettings): Values {
  return Object.fromEntries(documentKinds.claims.names.map((name) => [name, settings[name]]));
}
