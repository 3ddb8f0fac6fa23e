import { Badge } from '@mantine/core';
import { t } from '../../language/language.ts';
import { stateOf } from './expiry.ts';

const badges = {
  live: ['good', t('Live')],
  ending: ['note', t('Expires soon')],
  expired: ['bad', t('Expired')],
  revoked: ['bad', t('Revoked')],
} as const;

/** Status badge of a token. */
export function TokenBadge({ token }: { token: Parameters<typeof stateOf>[0] }) {
  const [tone, text] = badges[stateOf(token)];
  return <Badge color={tone}>{text}</Badge>;
}
