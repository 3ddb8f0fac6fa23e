import { Badge } from '@mantine/core';
import { t } from '../../language/language.ts';
import { actionColumn, type Column } from '../../ui/lists/data-table.tsx';
import { Time } from '../../ui/time.tsx';

interface Revocable {
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** Columns of API keys and client secrets: status and times. */
export const lifeColumns: Column<Revocable>[] = [
  {
    header: t('Status'),
    cell: ({ revokedAt }) =>
      revokedAt ? <Badge color="bad">{t('Revoked')}</Badge> : <Badge color="good">{t('Live')}</Badge>,
  },
  { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

export function revokeColumn<Row extends Revocable>(nameOf: (row: Row) => string, revoke: (row: Row) => void) {
  const label = (row: Row) => t('Revoke {name}', { name: nameOf(row) });
  return actionColumn<Row>(t('Revoke'), label, revoke, ({ revokedAt }) => revokedAt === null);
}
