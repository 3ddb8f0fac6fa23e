import type { Declaration } from '../kernel/nouns/declaration.ts';

const events = {
  'sms.limit_reached': ['sign-in', 'The daily SMS limit of {subject} was reached'],
  'sms.number_refused': ['sign-in', 'SMS of {subject} were refused'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Events {
    sms: typeof events;
  }
}

export const smsNouns = {
  events,
} satisfies Declaration;
