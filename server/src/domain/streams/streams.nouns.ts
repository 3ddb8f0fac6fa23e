import type { Declaration } from '../kernel/nouns/declaration.ts';
import { LogStream } from './log-stream.entity.ts';
import { StreamEvent } from './stream-event.entity.ts';

const nouns = {
  'log-stream': { table: 'log_streams' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    streams: typeof nouns;
  }
}

export const streamsNouns = {
  nouns,
  entities: [LogStream, StreamEvent],
} satisfies Declaration;
