/** The embedded database cannot run. The message is one line with the path and the remedy. */
export class EmbeddedPostgresError extends Error {
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
    return 'this user may not; give it that folder, or name another one in DATA_DIR';
  if (code === 'EROFS') return 'it is read-only; name a writable folder in DATA_DIR';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'something else is in the way; name another folder in DATA_DIR';
  return 'name another folder in DATA_DIR, or set DATABASE_URL to use a PostgreSQL of your own';
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
}
