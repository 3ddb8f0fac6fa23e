import { OperatorError } from '../../domain/kernel/problem.ts';

/** The embedded database cannot run. The message is one line with the path and the remedy. */
export class EmbeddedPostgresError extends OperatorError {
  override readonly name = 'EmbeddedPostgresError';
}

/** Translates a failed system call. */
export function refusal(doing: string, path: string, cause: unknown): EmbeddedPostgresError {
  if (cause instanceof EmbeddedPostgresError) return cause;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  return new EmbeddedPostgresError(`Cannot ${doing} ${path} (${code || firstLine(cause)}): ${remedyFor(code)}.`, {
    cause,
  });
}

function remedyFor(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full; free some space and start again';
  if (code === 'EACCES' || code === 'EPERM')
    return 'permission denied; make this user the owner of the folder, or set DATA_DIR to another one';
  if (code === 'EROFS') return 'it is read-only; set DATA_DIR to a writable folder';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'the path is already in use; set DATA_DIR to another folder';
  return 'set DATA_DIR to another folder, or DATABASE_URL to your own PostgreSQL';
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
}
