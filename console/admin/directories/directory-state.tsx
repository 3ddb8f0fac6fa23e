import { Alert, Loader } from '@mantine/core';
import { rich } from '../language/rich.tsx';
import { Icon } from '../ui/icon.tsx';
import { isLive } from '../ui/secrets/expiry.ts';
import { Time } from '../ui/time.tsx';
import type { ScimToken } from './scim-tokens.tsx';

type TokenRows = readonly ScimToken[] | undefined;

/** Time of the last request with a live token. */
export function lastRequest(tokens: NonNullable<TokenRows>): string | undefined {
  return tokens
    .filter(isLive)
    .flatMap(({ lastUsedAt }) => (lastUsedAt ? [lastUsedAt] : []))
    .sort()
    .at(-1);
}

/** Connection status, updated live. */
export function DirectoryState({ tokens, isOn }: { tokens: TokenRows; isOn: boolean }) {
  if (!tokens || !isOn) return null;
  const live = tokens.filter(isLive);
  const last = lastRequest(tokens);
  if (live.length === 0) return null;
  return (
    <Alert
      color={last ? 'good' : 'note'}
      role="status"
      radius="lg"
      icon={last ? <Icon name="check" /> : <Loader size={18} color="currentcolor" />}
    >
      {last
        ? rich('<strong>Connected.</strong> Last request <time></time>.', {
            time: () => <Time at={last} />,
          })
        : rich(
            '<strong>Waiting for the first request.</strong> Press “Test connection” in the directory; this status updates automatically.',
          )}
    </Alert>
  );
}
