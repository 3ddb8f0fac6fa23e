import type { Declaration } from '../kernel/nouns/declaration.ts';
import { LogStream } from './log-stream.entity.ts';
import { StreamEvent } from './stream-event.entity.ts';

const nouns = {
  'log-stream': { table: 'log_streams' },
} as const;

const events = {
  'log-stream.created': ['administration', '{actor} created the log stream to {subject}'],
  'log-stream.deleted': ['administration', '{actor} deleted the log stream to {subject}'],
  'log-stream.tested': ['administration', '{actor} tested the log stream to {subject}'],
  'log-stream.updated': ['administration', '{actor} changed the log stream to {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    streams: typeof nouns;
  }
  interface Events {
    streams: typeof events;
  }
}

export const streamsNouns = {
  nouns,
  events,
  entities: [LogStream, StreamEvent],
} satisfies Declaration;
