const maxTries = 3;

/** Does a transaction once more where it and another one waited for each other, and the database chose this one. */
export async function pastDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isDeadlock(error) || tries === maxTries) throw error;
    }
  }
}

/** SQLSTATE 40P01; also where a statement went past the ORM, which would have given it a class. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '40P01';
}
