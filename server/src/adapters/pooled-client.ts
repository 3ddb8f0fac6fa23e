import pg from 'pg';

/** What the pool adds to a client that it gives away. */
interface Pooled {
  release?(destroy: boolean): void;
}

const ends = /^(begin|start transaction|rollback$)/;

/**
 * A connection that goes back to its pool whatever happens. The query builder beneath the ORM gives a transaction's
 * connection back after `commit` or `rollback`, and forgets it where `begin` or `rollback` itself fails, as on a
 * connection that has just broken: after as many as the pool holds, the process would serve nobody any more.
 */
export class PooledClient extends pg.Client {
  // oxlint-disable-next-line typescript/no-explicit-any -- pg's own signature is a dozen overloads
  override query(...args: any[]): any {
    const result: unknown = (super.query as (...all: unknown[]) => unknown).apply(this, args);
    const [text] = args as unknown[];
    if (typeof text === 'string' && ends.test(text) && result instanceof Promise) {
      result.catch(() => {
        const pooled = this as Pooled;
        pooled.release?.(true);
        // Were it given back after all, that is once too often.
        pooled.release = () => undefined;
      });
    }
    return result;
  }
}
