import { Badge } from '@mantine/core';
import { stateOf } from './expiry.ts';

const badges = {
  live: ['good', 'Live'],
  ending: ['note', 'Expires soon'],
  expired: ['bad', 'Expired'],
  revoked: ['bad', 'Revoked'],
} as const;

/** Status badge of a token. */
export function TokenBadge({ token }: { token: Parameters<typeof stateOf>[0] }) {
  const [tone, text] = badges[stateOf(token)];
  return <Badge color={tone}>{text}</Badge>;
}
