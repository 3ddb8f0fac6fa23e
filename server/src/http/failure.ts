import type { Noun } from '../domain/kernel/nouns/names.ts';
import { Refusal } from '../domain/kernel/problem.ts';

/**
 * SQLSTATEs and socket errors for a database that is unreachable, out of resources or read-only, that cancelled a
 * statement (deadlock, lock timeout, statement timeout), or refused a value that another request has taken since it was
 * looked up (unique violation). Nothing was written; a retry may succeed.
 */
const gone =
  /^(08|53|57P|57014|55P03|25006|25P03|25P04|58030|40001|40P01|23505|E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|NETDOWN)$)/;

/** Faults that an operator must fix, by SQLSTATE: named in every response. */
const lasting: Partial<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '58030': 'the database cannot write to its disk',
  '25006': 'the database is read-only',
};

/** Messages of driver errors without a code, for a connection that broke or could not be opened. */
const broken =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end)/;

/** Rows that others refer to, by the last column of the foreign key, which names the constraint. */
const referenced: Partial<Record<string, Noun>> = {
  project: 'project',
  client: 'client',
  user: 'user',
  group: 'group',
  role: 'role',
  api: 'api',
  session: 'session',
};

/** The row that was deleted between its check and the write that refers to it; undefined for other errors. */
function deletedMeanwhile(error: Error): Noun | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  if (code !== '23503' || typeof constraint !== 'string') return undefined;
  return referenced[/_([a-z]+)_id_foreign$/.exec(constraint)?.[1] ?? ''];
}

/**
 * Maps a thrown error to a Refusal for the error tables: `unavailable` if the database is unreachable, `not-found` if a row
 * was deleted meanwhile. Any other error is a bug and is returned unchanged.
 */
export function failureOf(thrown: unknown): unknown {
  if (thrown instanceof Refusal || !(thrown instanceof Error)) return thrown;
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    const what = deletedMeanwhile(error);
    if (what) return new Refusal({ code: 'not-found', what }, { cause: thrown });
    const { code, constraint } = error as { code?: unknown; constraint?: unknown };
    if ((typeof code === 'string' && gone.test(code)) || broken.test(error.message)) {
      const fault = typeof code === 'string' ? lasting[code] : undefined;
      const detail = fault && { detail: `The service is temporarily unavailable: ${fault}.` };
      const reason = fault ?? (code === '23505' ? `unique violation: ${constraint}` : error.message);
      return new Refusal({ code: 'unavailable', reason, ...detail, retryAfterSeconds: 5 }, { cause: thrown });
    }
  }
  return thrown;
}

/**
 * Status of an error thrown by a body parser (413, 415, 400); undefined for any other error. Decompression errors also
 * carry a status.
 */
export function bodyFault(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { status, expose } = thrown as { status?: unknown; expose?: unknown };
  return typeof status === 'number' && expose === true && status < 500 ? status : undefined;
}
