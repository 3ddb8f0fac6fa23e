import { AsyncLocalStorage } from 'node:async_hooks';

/** The project whose rows statements may touch. `none`: only tables of the instance. `all`: the rows of all projects. */
export type Scope = 'none' | 'all' | (string & {});

const current = new AsyncLocalStorage<{ scope: Scope; requestId: string | undefined }>();

/** Waits until one more connection may be taken. Returns the end of the turn, to be called when the connection is back. */
export type BeginTurn = () => Promise<() => void>;

const turns = new AsyncLocalStorage<BeginTurn | undefined>();

/** Each connection that `work` takes waits for its turn, see `Turns`. */
export function inTurns<T>(begin: BeginTurn, work: () => T): T {
  return turns.run(begin, work);
}

/**
 * The connections of `work` do not queue: for work that holds a connection already, since such work may hold all slots,
 * and for work whose result others wait for.
 */
export function withoutTurns<T>(work: () => T): T {
  return turns.run(undefined, work);
}

export function currentTurns(): BeginTurn | undefined {
  return turns.getStore();
}

/** Outside a request (jobs, commands, start-up): all projects. */
export function currentScope(): Scope {
  return current.getStore()?.scope ?? 'all';
}

export function inScope<T>(scope: Scope, work: () => T): T {
  return current.run({ scope, requestId: currentRequestId() }, work);
}

/** Handles a request: its statements see no project until a credential opens one ({@link openProject}). */
export function inRequest<T>(work: () => T, requestId?: string): T {
  return current.run({ scope: 'none', requestId }, work);
}

/** Undefined outside a request. */
export function currentRequestId(): string | undefined {
  return current.getStore()?.requestId;
}

/** Statements of `work` see this project. */
export function inProject<T>(projectId: string, work: () => T): T {
  return inScope(projectId, work);
}

/** For a credential or id that does not name its project, and for work on all projects. */
export function inAllProjects<T>(work: () => T): T {
  return inScope('all', work);
}

/** From here on, statements of this request see the project of its credential. */
export function openProject(projectId: string): void {
  const store = current.getStore();
  if (store && store.scope !== 'all') store.scope = projectId;
}

/** `items`, read in this scope and in these turns. A stream would otherwise read them in the context of its socket. */
export function eachInScope<T>(scope: Scope, items: AsyncGenerator<T>): AsyncGenerator<T> {
  const begin = turns.getStore();
  return each(() => turns.run(begin, () => inScope(scope, () => items.next())), items);
}

async function* each<T>(next: () => Promise<IteratorResult<T>>, items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    for (;;) {
      const { done, value } = await next();
      if (done) return;
      yield value;
    }
  } finally {
    await items.return(undefined);
  }
}
