import { Menu } from '@mantine/core';
import type { UserAction } from '../generated/operations.ts';
import { t } from '../language/language.ts';

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
  ACTIVATE: { verb: t('Activate'), done: t('active'), effect: t('can sign in again.') },
  DEACTIVATE: {
    verb: t('Deactivate'),
    done: t('deactivated'),
    effect: t(
      'can no longer sign in. Sessions, codes and trusted devices end for good. Passkeys and second factors work again if you reactivate.',
    ),
  },
  END_SESSIONS: {
    verb: t('End all sessions'),
    done: t('signed out'),
    effect: t(
      'is signed out everywhere, and applications receive a logout. Trusted devices can sign in again without a code.',
    ),
  },
  RESET_FACTORS: {
    verb: t('Reset second factors'),
    done: t('without a second factor'),
    effect: t(
      'loses all second factors and recovery codes. Passkeys stay. If the project requires a factor, the next sign-in asks for a passkey or enrolls one.',
    ),
    isFinal: true,
  },
  ERASE: {
    verb: t('Erase'),
    done: t('erased'),
    effect: t(
      'is deleted with all personal data: profile, devices, passkeys, factors, sessions, messages. Log entries stay, without a name. This cannot be undone.',
    ),
    isFinal: true,
  },
};

export const isUserAction = (name: string): name is UserAction => name in userActions;

/** Menu items of the actions. @param except not applicable to the user's state */
export function UserActionItems({ except, onChoose }: { except?: UserAction; onChoose(action: UserAction): void }) {
  return (Object.keys(userActions) as UserAction[])
    .filter((action) => action !== except)
    .map((action) => {
      const { verb, isFinal } = userActions[action];
      return (
        <Menu.Item key={action} {...(isFinal ? { c: 'var(--bad)' } : {})} onClick={() => onChoose(action)}>
          {verb}
        </Menu.Item>
      );
    });
}
