import type { UserAction } from '../generated/operations.ts';

interface Words {
  /** Button label. */
  verb: string;
  /** Resulting state: "deactivated". */
  done: string;
  /** Effect on one user. */
  effect: string;
  /** Irreversible. */
  isFinal?: boolean;
}

/** Texts of user actions. */
export const userActions: Record<UserAction, Words> = {
  ACTIVATE: { verb: 'Activate', done: 'active', effect: 'can sign in again, as before.' },
  DEACTIVATE: {
    verb: 'Deactivate',
    done: 'deactivated',
    effect: 'can no longer sign in; sessions and codes end at once. Everything else stays, and it can be taken back.',
  },
  END_SESSIONS: {
    verb: 'End all sessions',
    done: 'signed out',
    effect:
      'is signed out in all browsers, and applications are told. Trusted devices may sign in again without a code.',
  },
  RESET_FACTORS: {
    verb: 'Reset second factors',
    done: 'without a second factor',
    effect: 'has no second factor any more. Where the project wants one, the next sign-in sets one up.',
    isFinal: true,
  },
  ERASE: {
    verb: 'Erase',
    done: 'erased',
    effect:
      'is deleted with all personal data: profile, devices, factors, sessions, messages. What stays in the log has no name. This cannot be undone.',
    isFinal: true,
  },
};
