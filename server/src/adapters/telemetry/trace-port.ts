import type { Observer } from '../../http/observer.ts';

/** Spans for requests, statements and outgoing requests. */
export interface Tracing {
  /** A span for each request, child of the caller's (`traceparent`, W3C Trace Context). */
  observe: Observer;
  /** A span for an outgoing request, with the headers that propagate the trace. */
  outgoing<T>(url: string, work: (headers: Record<string, string>) => T): T;
  /** A span for a statement. @param text only its first word is exported */
  statement<T>(text: string, run: () => T): T;
  /** Exports the remaining spans. */
  stop(): Promise<void>;
}
