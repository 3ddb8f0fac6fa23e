const maxTries = 3;

/** Retries a transaction that PostgreSQL aborted because of a deadlock. */
export async function pastDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isDeadlock(error) || tries === maxTries) throw error;
    }
  }
}

/** SQLSTATE 40P01, also from statements outside the ORM. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '40P01';
}
