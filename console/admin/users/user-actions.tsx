import { Menu } from '@mantine/core';
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
  ACTIVATE: { verb: 'Activate', done: 'active', effect: 'can sign in again.' },
  DEACTIVATE: {
    verb: 'Deactivate',
    done: 'deactivated',
    effect: 'can no longer sign in. Sessions and codes end at once. You can reactivate later.',
  },
  END_SESSIONS: {
    verb: 'End all sessions',
    done: 'signed out',
    effect:
      'is signed out everywhere, and applications receive a logout. Trusted devices can sign in again without a code.',
  },
  RESET_FACTORS: {
    verb: 'Reset second factors',
    done: 'without a second factor',
    effect:
      'loses all second factors and recovery codes. Passkeys stay. If the project requires a factor, the next sign-in asks for a passkey or enrolls one.',
    isFinal: true,
  },
  ERASE: {
    verb: 'Erase',
    done: 'erased',
    effect:
      'is deleted with all personal data: profile, devices, passkeys, factors, sessions, messages. Log entries stay, without a name. This cannot be undone.',
    isFinal: true,
  },
};

/** Menu items of the actions. @param except not applicable to the user's state */
export function UserActionItems({ except, onChoose }: { except?: UserAction; onChoose(action: UserAction): void }) {
  return (Object.keys(userActions) as UserAction[])
    .filter((action) => action !== except)
    .map((action) => {
      const { verb, isFinal } = userActions[action];
      return (
        <Menu.Item key={action} {...(isFinal ? { color: 'red' } : {})} onClick={() => onChoose(action)}>
          {verb}
        </Menu.Item>
      );
    });
}
