import { Badge, Text } from '@mantine/core';
import type { UserRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Breakable } from '../ui/breakable.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { store, stored } from '../ui/storage.ts';
import { Time } from '../ui/time.tsx';

type Row = UserRowFragment;

export const nameOf = ({ displayName, userName }: Row) => displayName ?? userName;

/** Marks a user who is deactivated, or was invited and has not signed in yet. */
export function StateBadge({ user }: { user: Pick<Row, 'active' | 'invitedAt' | 'lastSignInAt'> }) {
  if (!user.active) return <Badge color="bad">{t('Deactivated')}</Badge>;
  const isInvited = user.invitedAt != null && user.lastSignInAt == null;
  return isInvited ? <Badge color="note">{t('Invited')}</Badge> : null;
}

/** Available columns of the user list. */
export const userColumns = {
  name: { header: t('Name'), isName: true, width: '26%', cell: (user) => <Breakable text={nameOf(user)} /> },
  userName: { header: t('User name'), cell: ({ userName }) => <Breakable text={userName} /> },
  email: { header: t('Email'), cell: ({ email }) => (email ? <Breakable text={email} /> : '–') },
  phone: { header: t('Phone'), cell: ({ phone }) => phone ?? '–' },
  externalId: { header: t('External ID'), cell: ({ externalId }) => externalId ?? '–' },
  state: {
    header: t('Status'),
    cell: (user) => <StateBadge user={user} />,
  },
  provenance: {
    header: t('Source'),
    cell: ({ provenance }) => (
      <Text span style={{ whiteSpace: 'nowrap' }}>
        {provenance === 'SCIM' ? t('Directory') : t('Local')}
      </Text>
    ),
  },
  lastSignIn: { header: t('Last sign-in'), cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
  created: { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
} as const satisfies Record<string, Column<Row>>;

export type UserColumn = keyof typeof userColumns;

/** All except the name column, which links to the user. */
export const choosable = (Object.keys(userColumns) as UserColumn[]).filter((name) => name !== 'name');

const standard: readonly UserColumn[] = ['userName', 'state', 'provenance', 'lastSignIn'];
const key = 'lk-user-columns';

/** Columns stored in this browser. */
export function chosenColumns(): UserColumn[] {
  const list = stored(key);
  return Array.isArray(list) ? choosable.filter((name) => list.includes(name)) : [...standard];
}

export const keepColumns = (columns: readonly UserColumn[]): void => store(key, columns);
