import { Refusal } from '../domain/kernel/problem.ts';

/**
 * SQLSTATEs and socket errors that mean: the database is not there, has no room, only reads, or has given up a statement
 * for the sake of others (a deadlock, a lock or an answer that took too long). Nothing was done, and the same may work soon.
 */
const gone =
  /^(08|53|57P|57014|55P03|25006|25P03|25P04|40001|40P01|E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|NETDOWN)$)/;

/** What the driver says, without a code, of a connection that broke or was never had. */
const broken =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end)/;

/**
 * What a room's error table is asked about: the domain's refusal, or `unavailable` where the database is out of
 * reach. Anything else is a bug, and comes back as it is.
 */
export function failureOf(thrown: unknown): unknown {
  if (thrown instanceof Refusal || !(thrown instanceof Error)) return thrown;
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    const { code } = error as { code?: unknown };
    if ((typeof code === 'string' && gone.test(code)) || broken.test(error.message)) {
      return new Refusal({ code: 'unavailable', reason: error.message, retryAfterSeconds: 5 }, { cause: thrown });
    }
  }
  return thrown;
}

/**
 * The status of an error that a body parser threw (413, 415, 400); undefined for any other. Of what the decompressor
 * threw, the parser says the status, and no more.
 */
export function bodyFault(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { status, expose } = thrown as { status?: unknown; expose?: unknown };
  return typeof status === 'number' && expose === true && status < 500 ? status : undefined;
}
