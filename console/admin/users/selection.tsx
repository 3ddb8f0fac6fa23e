import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { UserAction, UserFilter, UserRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { atLeast } from '../ui/counted.ts';
import { MenuButton } from '../ui/layout/menu-button.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { activeFilters } from '../ui/lists/filters.tsx';
import type { useList } from '../ui/lists/resource-list.tsx';
import type { AllMatching } from './bulk/bulk-users.tsx';
import styles from './selection.module.css';
import { UserActionItems } from './user-actions.tsx';
import { nameOf } from './user-columns.tsx';
import { userFilters } from './user-filters.ts';

type Row = UserRowFragment;
export type UserList = ReturnType<typeof useList<unknown, unknown, Row>>;

/** Users chosen for an action: single ones, also of other pages, or all that match. */
export interface Selection {
  users: readonly { id: string; name: string }[];
  /** Set if all that match are chosen. */
  all: AllMatching | undefined;
  /** Rows of this page that are chosen. */
  onPage: number;
  has(user: Row): boolean;
  choose(users: readonly Row[], on: boolean): void;
  chooseAll(): void;
  clear(): void;
}

/** @param get reads a filter from the URL; `filter` has the same values */
export function useSelection(list: UserList, filter: UserFilter, get: (name: string) => string | undefined): Selection {
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [allOf, setAllOf] = useState<string>();
  const search = list.search ?? null;
  // “All that match” applies only to the search and filters for which it was chosen.
  const searchKey = JSON.stringify([search, filter]);
  const conditions = () => [
    ...(search ? [`“${search}”`] : []),
    ...activeFilters(userFilters, get).map(({ label, value }) => `${label}: ${value}`),
  ];
  const all = allOf === searchKey && list.page ? { search, filter, conditions: conditions() } : undefined;
  return {
    users: [...chosen].map(([id, name]) => ({ id, name })),
    all,
    onPage: list.rows?.filter(({ id }) => chosen.has(id)).length ?? 0,
    has: ({ id }) => all !== undefined || chosen.has(id),
    choose(users, on) {
      setAllOf(undefined);
      setChosen((before) => {
        const next = new Map(before);
        for (const user of users) {
          if (on) next.set(user.id, nameOf(user));
          else next.delete(user.id);
        }
        return next;
      });
    },
    chooseAll: () => setAllOf(searchKey),
    clear() {
      setAllOf(undefined);
      setChosen(new Map());
    },
  };
}

/** The column with a checkbox for each user, and one for the page in its header. */
export function selectColumn({ all, onPage, has, choose }: Selection, rows: readonly Row[] = []): Column<Row> {
  return {
    header: t('Selected'),
    width: '3.5rem',
    isCorner: true,
    head: (
      <Checkbox
        size="xs"
        aria-label={t('Select all on this page')}
        checked={all !== undefined || (onPage > 0 && onPage === rows.length)}
        indeterminate={!all && onPage > 0 && onPage < rows.length}
        onChange={(event) => choose(rows, event.currentTarget.checked)}
      />
    ),
    cell: (user) => (
      <Checkbox
        size="xs"
        aria-label={t('Select {user}', { user: nameOf(user) })}
        checked={has(user)}
        onChange={(event) => choose([user], event.currentTarget.checked)}
      />
    ),
  };
}

interface SelectionBarProps {
  selection: Selection;
  list: UserList;
  onAction(action: UserAction): void;
}

/** The number of selected users, and the actions on them. Nothing without a selection. */
export function SelectionBar({ selection, list, onAction }: SelectionBarProps) {
  const { users, all, onPage } = selection;
  const { page, rows } = list;
  const total = page?.totalCount ?? 0;
  const selected = all ? total : users.length;
  if (selected === 0) return null;
  const totalText = atLeast(total, page?.isTotalLimited ?? false);
  const mayTakeAll = page && !all && !page.isLimited && onPage > 0 && onPage === rows?.length && total > onPage;
  return (
    <Group gap="sm" className={styles.chosen ?? ''} role="region" aria-label={t('Selected users')}>
      <Text span fw={600} role="status">
        {all
          ? t('All {selected} matching users selected', { selected: totalText })
          : t('{selected, number} selected', { selected })}
      </Text>
      <MenuButton label={t('Actions')} position="bottom" variant="filled" size="xs">
        <UserActionItems onChoose={onAction} />
      </MenuButton>
      {mayTakeAll && (
        <Button size="xs" variant="subtle" onClick={selection.chooseAll}>
          {t('Select all {total} that match', { total: totalText })}
        </Button>
      )}
      <Button size="xs" variant="subtle" onClick={selection.clear}>
        {t('Clear selection')}
      </Button>
    </Group>
  );
}
