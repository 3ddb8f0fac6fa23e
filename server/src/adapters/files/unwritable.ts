import { OperatorError } from '../../domain/kernel/problem.ts';

const reasons: Record<string, string> = {
  ENOSPC: 'its disk is full: free some space, or choose another place',
  EDQUOT: 'the quota of its disk is used up: free some space, or choose another place',
};

/** The error to show for an error of the file system. The message is one line. */
export function unwritable(path: string, error: unknown): OperatorError {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new OperatorError(`${path} cannot be written (${reasons[code] ?? code}).`, { cause: error });
}

/** Whether no more can be written to the disk. */
export function isDiskFull(error: unknown): boolean {
  return Object.hasOwn(reasons, (error as NodeJS.ErrnoException).code ?? '');
}
