import { stateOf } from './expiry.ts';
import { Mark } from './mark.tsx';

const marks = {
  live: ['good', 'Live'],
  ending: ['note', 'Ends soon'],
  expired: ['bad', 'Expired'],
  revoked: ['bad', 'Revoked'],
} as const;

/** The state of a token in a word. */
export function TokenMark({ token }: { token: Parameters<typeof stateOf>[0] }) {
  const [tone, text] = marks[stateOf(token)];
  return <Mark tone={tone}>{text}</Mark>;
}
