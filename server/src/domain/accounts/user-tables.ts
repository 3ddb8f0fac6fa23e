import { accessTables } from '../access/user-tables.ts';
import { adminTables } from '../admins/user-tables.ts';
import { anonymizedEvents, eventsAbout, eventsBy } from '../audit/events-of-user.ts';
import { ceremonyTables } from '../ceremonies/user-tables.ts';
import { consentTables } from '../consents/user-tables.ts';
import { contactTables } from '../contacts/user-tables.ts';
import { deviceTables } from '../credentials/user-tables.ts';
import { deletedMessagesTo, endPendingCodes, messagesTo } from '../delivery/messages-to.ts';
import { directoryTables } from '../directories/user-tables.ts';
import { withoutAuthors } from '../experience/authors.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { logoutTables } from '../logout/user-tables.ts';
import { mfaTables } from '../mfa/user-tables.ts';
import { otpTables } from '../otp/user-tables.ts';
import { roleTables } from '../roles/user-tables.ts';
import { sessionTables } from '../sessions/user-tables.ts';
import { tokenTables } from '../tokens/user-tables.ts';
import { addressKeys, contactsOf } from '../users/login.ts';
import {
  type ErasedUsers,
  groupTables,
  type KeyedUser,
  loginAddresses,
  ofUsers,
  ownTables,
  type UserTables,
} from '../users/user-tables.ts';

const messageTables: UserTables = {
  tables: ['messages'],
  handOver: endPendingCodes,
  erase: ({ projectId, ids, users }) => [deletedMessagesTo({ projectId, ids, addresses: users.flatMap(recipientsOf) })],
  exportRows: {
    messages: (user) => messagesTo({ projectId: user.project.id, ids: [user.id], addresses: recipientsOf(user) }),
  },
};

/** Notices go to all addresses of a user. The message of an unsent code has the typed address in lower case. */
function recipientsOf(user: KeyedUser): string[] {
  const addresses = present([user.email, ...contactsOf(user.attributes, 'emails').map(({ value }) => value)]);
  return present([user.phone, ...addresses, ...addresses.flatMap(addressKeys), ...loginAddresses(user)]);
}

/** Drafts and versions name an admin, as the audit log does. */
const experienceTables: UserTables = {
  tables: [],
  handOver: null,
  erase: ({ projectId, users }) => withoutAuthors(projectId, present(users.map((user) => user.email ?? user.userName))),
  exportRows: {},
};

/** SQL: the ids of the users' devices, passkeys and sessions, as text. */
function ownedBy(users: Pick<ErasedUsers, 'projectId' | 'ids'>): Fragment {
  const ofTable = (name: string) => sql`select id::text from ${sql.table(name)} where ${ofUsers(users)}`;
  return sql`${ofTable('credentials')} union ${ofTable('sessions')}`;
}

const auditTables: UserTables = {
  tables: ['audit_log'],
  handOver: null,
  erase: (erased) => anonymizedEvents(erased, ownedBy(erased)),
  exportRows: {
    eventsAbout: ({ id, project }) => eventsAbout(project.id, id, ownedBy({ projectId: project.id, ids: [id] })),
    eventsBy: ({ id, project }) => eventsBy(project.id, id),
  },
};

/**
 * Every table with rows of users, in the order of the export (a test compares it with the schema). An erasure takes its parts
 * in this order, too: sign-ins before the rest.
 */
export const userTables: readonly UserTables[] = [
  ceremonyTables,
  groupTables,
  roleTables,
  accessTables,
  sessionTables,
  deviceTables,
  otpTables,
  mfaTables,
  contactTables,
  consentTables,
  tokenTables,
  messageTables,
  logoutTables,
  directoryTables,
  adminTables,
  experienceTables,
  ownTables,
  auditTables,
];

function present(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.flatMap((value) => (value ? [value] : [])))];
}
