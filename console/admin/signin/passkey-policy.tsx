import { List, Text } from '@mantine/core';
import type { FactorStandingQuery } from '../generated/operations.ts';
import type { FactorValues } from './factor-values.ts';

export const passkeyPolicies = {
  OFF: { name: 'Off', hint: 'Passkeys cannot be created or used. Existing ones stay.' },
  ALLOWED: { name: 'Allowed', hint: 'Users choose between passkey and mail code.' },
  PREFERRED: { name: 'Preferred', hint: 'The sign-in page asks for the passkey first; a code stays one click away.' },
  REQUIRED: {
    name: 'Required',
    hint: 'Every sign-in needs a passkey. Users without one create it at their next sign-in.',
  },
} as const;

type Standing = FactorStandingQuery['factorStanding'] | undefined;

/** What satisfies a second factor, under these settings. */
export function WhatCounts({ values }: { values: FactorValues }) {
  const lines = [
    values.passkeyPolicy !== 'OFF' && [
      'A passkey with fingerprint, face or PIN',
      'counts alone: no mail code and no other factor.',
    ],
    ['An authenticator app', 'counts, together with the device or a mail code.'],
    ['A text message', 'counts, together with the device or a mail code.'],
    ['A code by mail', values.emailFactor ? 'counts, because you allow it.' : 'does not count, unless you allow it.'],
  ].filter((line) => line !== false);
  return (
    <div>
      <Text fw={550} mb="xs">
        What counts
      </Text>
      <List size="sm" spacing={4}>
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
      Cannot use passkeys on their own sign-in pages: {names.join(', ')}. Turn on <em>Passkeys on its own pages</em> for
      the application, or redirect to the hosted page.
    </Text>
  );
}

/** What saving the new policy does. */
export function passkeyConsequence(saved: FactorValues, values: FactorValues, standing: Standing): string | undefined {
  const [from, to] = [saved.passkeyPolicy, values.passkeyPolicy];
  if (from === to) return undefined;
  if (to === 'OFF')
    return 'Passkeys can no longer be added or used. Existing ones stay, and work again when turned on.';
  if (to === 'REQUIRED') return requiring(standing);
  return from === 'REQUIRED' ? 'Users can sign in with a mail code again.' : undefined;
}

/** What requiring passkeys does. @param names applications whose own pages cannot use them */
export function requiring(standing: Standing, names = standing?.pagesWithoutPasskeys ?? []): string {
  if (!standing) return 'Users without a passkey create one at their next sign-in.';
  const without = standing.activeUsers - standing.withPasskey;
  const sessions = standing.sessionsWithoutPasskey;
  const parts = [
    without === 0
      ? 'All users have a passkey; new users create one at first sign-in.'
      : `${without} ${without === 1 ? 'user has no passkey and creates one' : 'users have no passkey and create one'} at next sign-in.`,
    sessions > 0 && `${sessions} live ${sessions === 1 ? 'session must' : 'sessions must'} sign in again.`,
    names.length > 0 && `Sign-in stops on own pages of ${names.join(', ')}: they cannot use passkeys.`,
  ];
  return parts.filter(Boolean).join(' ');
}
