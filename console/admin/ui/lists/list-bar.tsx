import { CloseButton, NativeSelect, Text, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation, useNavigation, useSearchParams } from 'react-router';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { optionsOf } from '../forms/options.ts';
import { Icon } from '../icon.tsx';
import styles from './list-bar.module.css';
import { firstRow } from './range.ts';

/**
 * The URL requested from the router at a location. The router updates the location later: without this, only the last change
 * would remain.
 */
let asked: { at: string; next: URLSearchParams } | undefined;

/** A page of a list, as in the URL; without a cursor: the first. */
interface ListPage {
  after?: string | undefined;
  from?: string | undefined;
}

/** Search, filters and cursor of a list, kept in the URL. */
export function useListParams(): {
  get(name: string): string | undefined;
  /** Also resets to the first page. @param trail the pages before this one */
  set(values: Record<string, string | undefined>, trail?: readonly ListPage[]): void;
} {
  const [params, setParams] = useSearchParams();
  const { key: at } = useLocation();
  return {
    get: (name) => params.get(name) || undefined,
    set: (values, trail) => {
      const next = new URLSearchParams(asked?.at === at ? asked.next : params);
      next.delete('after');
      next.delete('from');
      for (const [name, value] of Object.entries(values)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      asked = { at, next };
      setParams(next, { replace: !('after' in values), preventScrollReset: true, state: trail && { trail } });
    },
  };
}

/** Toolbar of a list: search, filters, count. */
export function ListBar({ children, count }: { children: ReactNode; count?: string | undefined }) {
  return (
    <div className={styles.bar}>
      {children}
      {count !== undefined && (
        <Text fz="xs" c="dimmed" ml="auto" role="status">
          {count}
        </Text>
      )}
    </div>
  );
}

/** Debounced search input. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const { get, set } = useListParams();
  const asked = get('search') ?? '';
  // Do not write the URL during a navigation: it would cancel it.
  const isLeaving = useNavigation().state !== 'idle';
  const hasLeft = useRef(false);
  const [text, setText] = useState(asked);
  // The field's own URL updates arrive later and must not overwrite newer input.
  const written = useRef(asked);
  useEffect(() => {
    if (asked !== written.current) setText(asked);
    written.current = asked;
  }, [asked]);
  useEffect(() => {
    // useNavigation reports a navigation only after the click.
    const leave = (event: MouseEvent) => {
      hasLeft.current ||= event.target instanceof Element && event.target.closest('a[href]') !== null;
    };
    document.addEventListener('click', leave, true);
    return () => document.removeEventListener('click', leave, true);
  }, []);
  useEffect(() => {
    if (text.trim() === asked || isLeaving) return;
    const timer = setTimeout(() => {
      if (hasLeft.current) return;
      written.current = text.trim();
      set({ search: written.current });
    }, 200);
    return () => clearTimeout(timer);
  });
  const type = (typed: string) => {
    hasLeft.current = false;
    setText(typed);
  };
  return (
    <TextInput
      className={styles.search}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      maxLength={200}
      onChange={(event) => type(event.currentTarget.value)}
      leftSection={<Icon name="search" size={16} />}
      rightSection={text && <CloseButton size="sm" aria-label={t('Clear the search')} onClick={() => type('')} />}
    />
  );
}

/** Options of a filter: "any" and one per name. */
export const filterOptions = (any: string, names: Readonly<Record<string, string>>) => [
  { value: '', label: any },
  ...optionsOf(names),
];

export interface FilterProps {
  /** Parameter of the URL. */
  name: string;
  label: string;
  /** The first is "any". */
  options: readonly { value: string; label: string }[];
}

/** Filter dropdown. */
export function Filter({ name, label, options, isLabelled = false }: FilterProps & { isLabelled?: boolean }) {
  const { get, set } = useListParams();
  const value = get(name) ?? '';
  return (
    <NativeSelect
      className={styles.filter ?? ''}
      {...(isLabelled ? { label } : { 'aria-label': label })}
      data={[...options]}
      value={value}
      data-chosen={value !== '' || undefined}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
}

export interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  endCursor?: string | null | undefined;
}

interface PagerProps {
  pageInfo: PageInfo | undefined;
  /** Number of the first row of this page; absent: 1. */
  from?: string | undefined;
  /** Number of rows on this page. */
  rows?: number | undefined;
}

/**
 * Cursor pagination, without page numbers. Cursors lead forward only: the pages that led here are kept in the history, and
 * a link to a later page leads back only to the first one.
 */
export function Pager({ pageInfo, from, rows = 0 }: PagerProps) {
  const { get, set } = useListParams();
  const { trail = [] } = (useLocation().state ?? {}) as { trail?: readonly ListPage[] };
  if (!pageInfo || (!pageInfo.hasNextPage && !pageInfo.hasPreviousPage)) return null;
  const go = ({ after, from: first }: ListPage, before: readonly ListPage[] = []) => {
    set({ after, from: first }, before);
    window.scrollTo({ top: 0 });
  };
  const { hasNextPage, hasPreviousPage, endCursor } = pageInfo;
  const next = { after: endCursor ?? undefined, from: String(firstRow(from) + rows) };
  const previous = trail.at(-1);
  return (
    <nav className={styles.pager} aria-label={t('Pages')}>
      <SecondaryButton size="xs" disabled={!hasPreviousPage} onClick={() => go({})}>
        {t('First page')}
      </SecondaryButton>
      <SecondaryButton
        size="xs"
        disabled={!hasPreviousPage || !previous}
        onClick={() => go(previous ?? {}, trail.slice(0, -1))}
      >
        {t('Previous page')}
      </SecondaryButton>
      <SecondaryButton
        size="xs"
        disabled={!hasNextPage}
        onClick={() => go(next, [...trail, { after: get('after'), from: get('from') }])}
      >
        {t('Next page')}
      </SecondaryButton>
    </nav>
  );
}
