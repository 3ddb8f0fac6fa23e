import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useNavigation, useSearchParams } from 'react-router';
import { Icon } from './icon.tsx';
import styles from './list-bar.module.css';

/** A list's search, filters and place, which live in the address: a link to a list is a link to what it shows. */
export function useListParams(): {
  get(name: string): string | undefined;
  /** Takes the list back to its first page. */
  set(values: Record<string, string | undefined>): void;
} {
  const [params, setParams] = useSearchParams();
  return {
    get: (name) => params.get(name) || undefined,
    set: (values) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete('after');
          for (const [name, value] of Object.entries(values)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: !('after' in values), preventScrollReset: true },
      ),
  };
}

/** Above a list: search first, then filters, then the count. */
export function ListBar({ children, count }: { children: ReactNode; count?: string | undefined }) {
  return (
    <div className={styles.bar}>
      {children}
      {count !== undefined && (
        <p className={styles.count} role="status">
          {count}
        </p>
      )}
    </div>
  );
}

/** Searches as one types, after a short rest. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const { get, set } = useListParams();
  const asked = get('search') ?? '';
  // Who has typed and then gone on to a page, which is being fetched, must not be called back.
  const isLeaving = useNavigation().state !== 'idle';
  const hasLeft = useRef(false);
  const [text, setText] = useState(asked);
  // What this field has put into the address itself comes back a moment later, and must not undo what was typed since.
  const told = useRef(asked);
  useEffect(() => {
    if (asked !== told.current) setText(asked);
    told.current = asked;
  }, [asked]);
  useEffect(() => {
    // The router says so a moment after the click.
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
      told.current = text.trim();
      set({ search: told.current });
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
      rightSection={text && <CloseButton size="sm" aria-label="Clear the search" onClick={() => type('')} />}
    />
  );
}

/** One question with a few answers. @param options the first is "any" */
export function Filter({
  name,
  label,
  options,
}: {
  name: string;
  label: string;
  options: readonly { value: string; label: string }[];
}) {
  const { get, set } = useListParams();
  const value = get(name) ?? '';
  return (
    <NativeSelect
      className={styles.filter}
      aria-label={label}
      data={[...options]}
      value={value}
      data-chosen={value !== '' || undefined}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
}

interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  endCursor?: string | null | undefined;
}

/** Below a list. Pages have no numbers: what comes in meanwhile moves none of them. */
export function Pager({ pageInfo }: { pageInfo: PageInfo | undefined }) {
  const { set } = useListParams();
  if (!pageInfo || (!pageInfo.hasNextPage && !pageInfo.hasPreviousPage)) return null;
  const go = (after: string | undefined) => {
    set({ after });
    window.scrollTo({ top: 0 });
  };
  return (
    <nav className={styles.pager} aria-label="Pages">
      <Button variant="default" size="xs" disabled={!pageInfo.hasPreviousPage} onClick={() => go(undefined)}>
        First page
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={!pageInfo.hasNextPage}
        onClick={() => go(pageInfo.endCursor ?? undefined)}
      >
        Next page
      </Button>
    </nav>
  );
}
