import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { KnownNetwork } from './known-network.entity.ts';
import { OneTimeCode } from './one-time-code.entity.ts';
import { otpTables } from './user-tables.ts';

const events = {
  'otp.failed': ['sign-in', 'A one-time code for {subject} could not be sent'],
  'otp.rejected': ['sign-in', 'A one-time code of {subject} was refused'],
  'otp.requested': ['sign-in', 'A one-time code was requested for {subject}'],
  'otp.sent': ['sign-in', 'A one-time code was sent to {subject}'],
  'otp.suppressed': ['sign-in', 'A one-time code for {subject} was not sent'],
  'otp.verified': ['sign-in', '{subject} entered the code'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Events {
    otp: typeof events;
  }
}

export const otpNouns = {
  events,
  entities: [OneTimeCode, KnownNetwork],
  userTables: [otpTables],
} satisfies Declaration<UserTables>;
