import { lazy, Suspense } from 'react';
import { withTexts } from '../language/language.ts';
import { signupsTexts } from '../signups/texts.ts';

const SignUpList = lazy(async () => ({
  default: (await withTexts(signupsTexts, () => import('../signups/sign-up-requests.tsx'))).SignUpList,
}));

/** Requests to sign up; their texts load first. */
export function Component() {
  return (
    <Suspense>
      <SignUpList />
    </Suspense>
  );
}
