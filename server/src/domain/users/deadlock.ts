import { DeadlockException } from '@mikro-orm/core';

const maxTries = 3;

/** Does a transaction once more where it and another one waited for each other, and the database chose this one. */
export async function pastDeadlocks<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (!(error instanceof DeadlockException) || tries === maxTries) throw error;
    }
  }
}
