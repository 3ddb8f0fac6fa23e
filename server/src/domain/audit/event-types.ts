import type { Events, InEach } from '../kernel/nouns/names.ts';

/** The types of audit events, which each layer declares in its `*.nouns.ts`. */
export type EventType = InEach<Events>;
