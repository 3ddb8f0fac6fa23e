import type { UserRowFragment } from '../generated/operations.ts';
import type { Column } from '../ui/data-table.tsx';
import { Mark } from '../ui/mark.tsx';
import { Time } from '../ui/time.tsx';

type Row = UserRowFragment;

export const nameOf = ({ displayName, userName }: Row) => displayName ?? userName;

/** What can be shown of users in a list. */
export const userColumns = {
  name: { header: 'Name', isName: true, width: '26%', cell: nameOf },
  userName: { header: 'User name', cell: ({ userName }) => userName },
  email: { header: 'E-mail', cell: ({ email }) => email ?? '–' },
  phone: { header: 'Phone', cell: ({ phone }) => phone ?? '–' },
  externalId: { header: 'External ID', cell: ({ externalId }) => externalId ?? '–' },
  state: {
    header: 'State',
    cell: ({ active }) => (active ? <Mark tone="good">Active</Mark> : <Mark tone="bad">Deactivated</Mark>),
  },
  provenance: {
    header: 'Came from',
    cell: ({ provenance }) => (provenance === 'SCIM' ? 'Directory' : 'Sign-up'),
  },
  lastSignIn: { header: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
  created: { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
} as const satisfies Record<string, Column<Row>>;

export type UserColumn = keyof typeof userColumns;

/** The name is always there: it leads to the person. */
export const choosable = (Object.keys(userColumns) as UserColumn[]).filter((name) => name !== 'name');

const standard: readonly UserColumn[] = ['userName', 'state', 'provenance', 'lastSignIn'];
const key = 'lk-user-columns';

/** What this reader chose to see, in this browser. */
export function chosenColumns(): UserColumn[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    if (Array.isArray(stored)) return choosable.filter((name) => stored.includes(name));
  } catch {
    // Nothing that could be read: as if nothing had been chosen.
  }
  return [...standard];
}

export function keepColumns(columns: readonly UserColumn[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(columns));
  } catch {
    // A browser that keeps nothing shows the standard ones next time.
  }
}
