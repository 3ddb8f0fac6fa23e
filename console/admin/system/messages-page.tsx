import { lazy, Suspense } from 'react';
import { withTexts } from '../language/language.ts';
import { messagesTexts } from '../messages/texts.ts';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';

const MessagesPage = lazy(async () => ({
  default: (await withTexts(messagesTexts, () => import('../messages/messages-page.tsx'))).MessagesPage,
}));

/** Mail and text messages of a project; their texts load first. */
export function Component() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <MessagesPage />
    </Suspense>
  );
}
