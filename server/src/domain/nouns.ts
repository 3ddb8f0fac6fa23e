import { accessNouns } from './access/access.nouns.ts';
import { accountsNouns, messagesToUsers } from './accounts/accounts.nouns.ts';
import { adminsNouns } from './admins/admins.nouns.ts';
import { apisNouns } from './apis/apis.nouns.ts';
import { auditNouns } from './audit/audit.nouns.ts';
import type { EventType } from './audit/event-types.ts';
import { ceremoniesNouns } from './ceremonies/ceremonies.nouns.ts';
import { claimsNouns } from './claims/claims.nouns.ts';
import { clientsNouns } from './clients/clients.nouns.ts';
import { connectionsNouns } from './connections/connections.nouns.ts';
import { consentsNouns } from './consents/consents.nouns.ts';
import { contactsNouns } from './contacts/contacts.nouns.ts';
import { credentialsNouns } from './credentials/credentials.nouns.ts';
import { delegationNouns } from './delegation/delegation.nouns.ts';
import { deliveryNouns } from './delivery/delivery.nouns.ts';
import { directoriesNouns, requestRecordNouns } from './directories/directories.nouns.ts';
import { domainsNouns } from './domains/domains.nouns.ts';
import { experienceNouns } from './experience/experience.nouns.ts';
import { instanceNouns } from './instance/instance.nouns.ts';
import type { Declaration, OwnedFacts } from './kernel/nouns/declaration.ts';
import type { Events, Nouns, OwnedNoun } from './kernel/nouns/names.ts';
import type { Fields } from './kernel/resource.ts';
import { keysNouns } from './keys/keys.nouns.ts';
import { limitsNouns } from './limits/limits.nouns.ts';
import { logoutNouns } from './logout/logout.nouns.ts';
import { mfaNouns } from './mfa/mfa.nouns.ts';
import { organizationMembersNouns, organizationsNouns } from './organizations/organizations.nouns.ts';
import { otpNouns } from './otp/otp.nouns.ts';
import { portalNouns } from './portal/portal.nouns.ts';
import { projectsNouns } from './projects/projects.nouns.ts';
import { rolesNouns } from './roles/roles.nouns.ts';
import { sessionsNouns } from './sessions/sessions.nouns.ts';
import { signupsNouns } from './signups/signups.nouns.ts';
import { smsNouns } from './sms/sms.nouns.ts';
import { streamsNouns } from './streams/streams.nouns.ts';
import { tokensNouns } from './tokens/tokens.nouns.ts';
import type { UserTables } from './users/user-tables.ts';
import { usersNouns } from './users/users.nouns.ts';
import { webhooksNouns } from './webhooks/webhooks.nouns.ts';

type Declared = Declaration<UserTables>;

/**
 * In the order of exports: the rows that a row refers to precede it. An erasure follows it, too: sign-ins before the rest.
 */
const layers = {
  ceremonies: ceremoniesNouns,
  projects: projectsNouns,
  audit: auditNouns,
  limits: limitsNouns,
  keys: keysNouns,
  sms: smsNouns,
  delivery: deliveryNouns,
  clients: clientsNouns,
  apis: apisNouns,
  domains: domainsNouns,
  experience: experienceNouns,
  organizations: organizationsNouns,
  directories: directoriesNouns,
  users: usersNouns,
  roles: rolesNouns,
  organizationMembers: organizationMembersNouns,
  access: accessNouns,
  claims: claimsNouns,
  sessions: sessionsNouns,
  credentials: credentialsNouns,
  otp: otpNouns,
  mfa: mfaNouns,
  connections: connectionsNouns,
  contacts: contactsNouns,
  consents: consentsNouns,
  signups: signupsNouns,
  tokens: tokensNouns,
  messagesToUsers,
  logout: logoutNouns,
  requestRecords: requestRecordNouns,
  admins: adminsNouns,
  accounts: accountsNouns,
  portal: portalNouns,
  delegation: delegationNouns,
  webhooks: webhooksNouns,
  streams: streamsNouns,
  instance: instanceNouns,
} satisfies { [Layer in keyof Nouns]: { nouns: Nouns[Layer] } } & {
  [Layer in keyof Events]: { events: Events[Layer] };
} & Record<string, Declared>;

const declared: readonly Declared[] = Object.values(layers);

/** The whole model. */
export const entities = declared.flatMap((layer) => layer.entities ?? []);

/** All exported tables, parents before children. */
export const transferTables = declared.flatMap(({ transfer = [] }) => transfer);

/** Every table with rows of users (a test compares it with the schema). */
export const userTables = declared.flatMap((layer) => layer.userTables ?? []);

/** Also those without a table, which an {@link OwnedNoun} never names. */
export const ownedNouns = Object.assign({}, ...declared.map(({ nouns }) => nouns)) as Readonly<
  Record<OwnedNoun, OwnedFacts>
>;

/** The resources with declared settings, by their names in the admin API. */
export const resources: Readonly<Record<string, Fields>> = Object.assign(
  {},
  ...declared.map((layer) => layer.resources),
);

/** All types of audit events, with filter and sentence, in alphabetical order. */
export const events = Object.fromEntries(
  declared.flatMap((layer) => Object.entries(layer.events ?? {})).toSorted(([one], [other]) => (one < other ? -1 : 1)),
);

export const eventTypes = Object.keys(events) as [EventType, ...EventType[]];
