import { Badge } from '@mantine/core';
import type { UserRowFragment } from '../generated/operations.ts';
import type { Column } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Row = UserRowFragment;

export const nameOf = ({ displayName, userName }: Row) => displayName ?? userName;

/** Available columns of the user list. */
export const userColumns = {
  name: { header: 'Name', isName: true, width: '26%', cell: nameOf },
  userName: { header: 'User name', cell: ({ userName }) => userName },
  email: { header: 'E-mail', cell: ({ email }) => email ?? '–' },
  phone: { header: 'Phone', cell: ({ phone }) => phone ?? '–' },
  externalId: { header: 'External ID', cell: ({ externalId }) => externalId ?? '–' },
  state: {
    header: 'Status',
    cell: ({ active }) => (active ? <Badge color="good">Active</Badge> : <Badge color="bad">Deactivated</Badge>),
  },
  provenance: {
    header: 'Source',
    cell: ({ provenance }) => (provenance === 'SCIM' ? 'Directory' : 'Sign-up'),
  },
  lastSignIn: { header: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
  created: { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
} as const satisfies Record<string, Column<Row>>;

export type UserColumn = keyof typeof userColumns;

/** All except the name column, which links to the user. */
export const choosable = (Object.keys(userColumns) as UserColumn[]).filter((name) => name !== 'name');

const standard: readonly UserColumn[] = ['userName', 'state', 'provenance', 'lastSignIn'];
const key = 'lk-user-columns';

/** Columns stored in this browser. */
export function chosenColumns(): UserColumn[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    if (Array.isArray(stored)) return choosable.filter((name) => stored.includes(name));
  } catch {
    // Unreadable: use the defaults.
  }
  return [...standard];
}

export function keepColumns(columns: readonly UserColumn[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(columns));
  } catch {
    // Storage unavailable: the defaults apply next time.
  }
}
