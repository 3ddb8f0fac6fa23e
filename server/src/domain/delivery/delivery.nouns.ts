import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Message } from './message.entity.ts';

const nouns = {
  message: {},
} as const;

const events = {
  'sender.tested': ['administration', '{actor} tested the {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    delivery: typeof nouns;
  }
  interface Events {
    delivery: typeof events;
  }
}

export const deliveryNouns = {
  nouns,
  events,
  entities: [Message],
} satisfies Declaration;
