import type { Observer } from '../../http/observer.ts';

/** What is told of requests, of statements and of requests to others, where somebody wants to know. */
export interface Tracing {
  /** A span for each request, under the caller's (`traceparent`, W3C Trace Context). */
  observe: Observer;
  /** A span for a request to somebody else's server, with the headers that pass the trace on. */
  outgoing<T>(url: string, work: (headers: Record<string, string>) => T): T;
  /** A span for a statement. @param text of which only the first word is told */
  statement<T>(text: string, run: () => T): T;
  /** Hands over what is left. */
  stop(): Promise<void>;
}
