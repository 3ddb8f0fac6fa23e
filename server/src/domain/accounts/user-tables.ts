import { anonymizedEvents, eventsAbout, eventsBy } from '../audit/events-of-user.ts';
import { deletedMessagesTo, endPendingCodes, messagesTo } from '../delivery/messages-to.ts';
import { withoutAuthors } from '../experience/authors.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { addressKeys, contactsOf } from '../users/login.ts';
import { type ErasedUsers, type KeyedUser, loginAddresses, ofUsers, type UserTables } from '../users/user-tables.ts';

export const messageTables: UserTables = {
  tables: ['messages'],
  handOver: endPendingCodes,
  erase: ({ projectId, ids, users }) => [deletedMessagesTo({ projectId, ids, addresses: users.flatMap(recipientsOf) })],
  exportRows: {
    messages: (user) => messagesTo({ projectId: user.project.id, ids: [user.id], addresses: recipientsOf(user) }),
  },
};

/**
 * Notices go to all addresses of a user; they name the user, too. The message of an unsent code has the typed address in lower case. Addresses
 * that the directory of an organization gives can be those of other people.
 */
function recipientsOf(user: KeyedUser): string[] {
  const others = user.organizationId == null ? contactsOf(user.attributes, 'emails').map(({ value }) => value) : [];
  const addresses = present([user.email, ...others]);
  return present([user.phone, ...addresses, ...addresses.flatMap(addressKeys), ...loginAddresses(user)]);
}

/** Drafts and versions name an admin, as the audit log does. */
export const experienceTables: UserTables = {
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

export const auditTables: UserTables = {
  tables: ['audit_log'],
  handOver: null,
  erase: (erased) => anonymizedEvents(erased, ownedBy(erased)),
  exportRows: {
    eventsAbout: ({ id, project }) => eventsAbout(project.id, id, ownedBy({ projectId: project.id, ids: [id] })),
    eventsBy: ({ id, project }) => eventsBy(project.id, id),
  },
};

function present(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.flatMap((value) => (value ? [value] : [])))];
}
