import { Button } from '@mantine/core';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';

interface PageButtonsProps {
  /** Cursor of the page; null: the first. */
  after: string | null;
  pageInfo: { hasNextPage: boolean; endCursor: string | null } | undefined;
  onChange(after: string | null): void;
}

/** First and next page of a list within a page; nothing if it has only one. */
export function PageButtons({ after, pageInfo, onChange }: PageButtonsProps) {
  if (!after && !pageInfo?.hasNextPage) return null;
  return (
    <Button.Group p="sm">
      <SecondaryButton size="xs" disabled={!after} onClick={() => onChange(null)}>
        {t('First page')}
      </SecondaryButton>
      <SecondaryButton
        size="xs"
        disabled={!pageInfo?.hasNextPage}
        onClick={() => onChange(pageInfo?.endCursor ?? null)}
      >
        {t('Next page')}
      </SecondaryButton>
    </Button.Group>
  );
}
