import { ConfigError } from './config.ts';
import { OperatorError, Refusal } from './domain/kernel/problem.ts';
import { failureOf } from './http/failure.ts';

/** Error lines for the operator: a message for errors they can fix, the stack trace for bugs. */
export function faultLines(error: unknown): string[] {
  if (error instanceof ConfigError) return error.faults;
  if (error instanceof Refusal) return [wordsOf(error)];
  if (error instanceof OperatorError) return [error.message];
  const outage = outageOf(error);
  if (outage !== undefined) return [`Cannot use the database: ${outage}. Try again once it is available.`];
  return [(error as Error).stack ?? String(error)];
}

/** Why the database could not be used; undefined for any other error. */
function outageOf(error: unknown): string | undefined {
  // An error of a file, not of the database connection.
  if ((error as NodeJS.ErrnoException).path !== undefined) return undefined;
  const failure = failureOf(error);
  if (!(failure instanceof Refusal) || failure.problem.code !== 'unavailable') return undefined;
  // The driver writes the statement before the reason.
  return failure.problem.reason.split('\n')[0]?.split(' - ').at(-1);
}

function wordsOf({ problem }: Refusal): string {
  const fields = problem as { code: string; field?: string; reason?: string; what?: string };
  return [fields.field, fields.reason ?? fields.code, fields.what].filter((word) => word !== undefined).join(' ');
}
