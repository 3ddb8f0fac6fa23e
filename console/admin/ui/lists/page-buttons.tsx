import { Group } from '@mantine/core';
import { useState } from 'react';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';

interface PageButtonsProps {
  /** Cursor of the page; null: the first. */
  after: string | null;
  pageInfo: { hasNextPage: boolean; endCursor: string | null } | undefined;
  onChange(after: string | null): void;
}

/** First, previous and next page of a list within a page; nothing if it has only one. */
export function PageButtons({ after, pageInfo, onChange }: PageButtonsProps) {
  /** Cursors of the pages before this one. */
  const [trail, setTrail] = useState<readonly (string | null)[]>([]);
  if (!after && !pageInfo?.hasNextPage) return null;
  const go = (to: string | null, before: readonly (string | null)[]) => {
    setTrail(before);
    onChange(to);
  };
  return (
    <Group p="sm" gap="xs" role="group" aria-label={t('Pages')}>
      <SecondaryButton size="xs" disabled={!after} onClick={() => go(null, [])}>
        {t('First page')}
      </SecondaryButton>
      <SecondaryButton size="xs" disabled={!after} onClick={() => go(trail.at(-1) ?? null, trail.slice(0, -1))}>
        {t('Previous page')}
      </SecondaryButton>
      <SecondaryButton
        size="xs"
        disabled={!pageInfo?.hasNextPage}
        onClick={() => go(pageInfo?.endCursor ?? null, after ? [...trail, after] : [null])}
      >
        {t('Next page')}
      </SecondaryButton>
    </Group>
  );
}
