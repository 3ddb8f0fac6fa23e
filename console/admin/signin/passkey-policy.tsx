import { List, Text } from '@mantine/core';
import type { FactorStandingQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { count } from '../ui/counted.ts';
import type { FactorValues } from './factor-values.ts';

export const passkeyPolicies = {
  OFF: { name: t('Off'), hint: t('Passkeys cannot be created or used. Existing ones stay.') },
  ALLOWED: { name: t('Allowed'), hint: t('Users choose between passkey and mail code.') },
  PREFERRED: {
    name: t('Preferred'),
    hint: t('The sign-in page asks for the passkey first; a code stays one click away.'),
  },
  REQUIRED: {
    name: t('Required'),
    hint: t('Every sign-in needs a passkey. Users without one create it at their next sign-in.'),
  },
} as const;

type Usage = FactorStandingQuery['factorStanding'] | undefined;

/** The methods that count as a second factor, under these settings. */
export function WhatCounts({ values }: { values: FactorValues }) {
  const lines = [
    values.passkeyPolicy !== 'OFF' && [
      t('A passkey with fingerprint, face or PIN'),
      t('counts alone: no mail code and no other factor.'),
    ],
    [t('An authenticator app'), t('counts, together with the device or a mail code.')],
    [t('A text message'), t('counts, together with the device or a mail code.')],
    [
      t('A code by mail'),
      values.emailFactor ? t('counts, because you allow it.') : t('does not count, unless you allow it.'),
    ],
  ].filter((line) => line !== false);
  return (
    <div>
      <Text fw={550} mb="xs">
        {t('Accepted factors')}
      </Text>
      <List size="sm" spacing={4} listStyleType="disc">
        {lines.map(([factor, rule]) => (
          <List.Item key={factor}>
            <strong>{factor}</strong> {rule}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

/** Applications whose own pages cannot use passkeys. */
export function PasskeyPages({ names }: { names: readonly string[] | undefined }) {
  if (!names?.length) return null;
  return (
    <Text size="sm" c="dimmed">
      {rich(
        'Cannot use passkeys on their own sign-in pages: {names}. Turn on <em>Passkeys on its own pages</em> for the application, or redirect to the hosted page.',
        { names: names.join(', ') },
      )}
    </Text>
  );
}

/** The effect of saving the new policy. */
export function passkeyConsequence(saved: FactorValues, values: FactorValues, usage: Usage): string | undefined {
  const [from, to] = [saved.passkeyPolicy, values.passkeyPolicy];
  if (from === to) return undefined;
  if (to === 'OFF')
    return t('Passkeys can no longer be added or used. Existing ones stay, and work again when turned on.');
  if (to === 'REQUIRED') return requiring(usage);
  return from === 'REQUIRED' ? t('Users can sign in with a mail code again.') : undefined;
}

/** States which users the numbers count, if not all. */
export function amongRecent(usage: Usage): string | false {
  if (!usage?.isLimited) return false;
  return t('Counted among the {count} users who signed in last.', { count: count.format(usage.activeUsers) });
}

/** The effect of requiring passkeys. @param names applications whose own pages cannot use them */
export function requiring(usage: Usage, names = usage?.pagesWithoutPasskeys ?? []): string {
  if (!usage) return t('Users without a passkey create one at their next sign-in.');
  const without = usage.activeUsers - usage.withPasskey;
  const sessions = usage.sessionsWithoutPasskey;
  const parts = [
    without === 0
      ? t('All users have a passkey; new users create one at first sign-in.')
      : t(
          '{count, plural, one {# user has no passkey and creates one at next sign-in.} other {# users have no passkey and create one at next sign-in.}}',
          { count: without },
        ),
    sessions > 0 &&
      t('{count, plural, one {# live session must sign in again.} other {# live sessions must sign in again.}}', {
        count: sessions,
      }),
    names.length > 0 &&
      t('Sign-in stops on own pages of {names}: they cannot use passkeys.', { names: names.join(', ') }),
  ];
  return parts.filter(Boolean).join(' ');
}
