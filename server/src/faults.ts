import { ConfigError } from './config.ts';
import { OperatorError, Refusal } from './domain/kernel/problem.ts';

/** Error lines for the operator: a message for errors they can fix, the stack trace for bugs. */
export function faultLines(error: unknown): string[] {
  if (error instanceof ConfigError) return error.faults;
  if (error instanceof Refusal) return [wordsOf(error)];
  if (error instanceof OperatorError) return [error.message];
  return [(error as Error).stack ?? String(error)];
}

function wordsOf({ problem }: Refusal): string {
  const fields = problem as { code: string; field?: string; reason?: string; what?: string };
  return [fields.field, fields.reason ?? fields.code, fields.what].filter((word) => word !== undefined).join(' ');
}
