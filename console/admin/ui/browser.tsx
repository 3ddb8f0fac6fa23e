import { userAgentNames } from '@latchkey/contracts/user-agent';
import { t } from '../language/language.ts';

/** "Firefox on Windows", guessed from the user agent; for a program that is no browser, the first name in it. */
export function browserName(userAgent: string | null | undefined): string {
  if (!userAgent) return t('an unknown browser');
  const [program] = /^(?!Mozilla\/)[^/ ]+/.exec(userAgent) ?? [];
  const { browser = program, system } = userAgentNames(userAgent);
  if (!browser) return system ?? t('an unknown browser');
  return system ? t('{browser} on {system}', { browser, system }) : browser;
}

/** The name of a browser, which opens to its `User-Agent` header. */
export function Browser({ userAgent }: { userAgent: string | null | undefined }) {
  if (!userAgent) return browserName(userAgent);
  return (
    <details>
      <summary>{browserName(userAgent)}</summary>
      <code style={{ overflowWrap: 'anywhere' }}>{userAgent}</code>
    </details>
  );
}
