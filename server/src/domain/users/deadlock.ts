const maxAttempts = 3;

/** Retries a transaction that PostgreSQL aborted because of a deadlock. */
export async function pastDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxAttempts) throw error;
    }
  }
}

/** SQLSTATE 40P01, also from statements outside the ORM. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '40P01';
}
