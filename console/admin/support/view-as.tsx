import { Alert, Badge, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { ViewAs, type ViewAsQuery } from '../generated/operations.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import styles from './view-as.module.css';

type SignIn = ViewAsQuery['viewAs']['signIns'][number];
type Step = SignIn['steps'][number];

const kinds: Record<Step['kind'], string> = {
  MAIL_CODE: 'Code by e-mail',
  DEVICE_KEY: 'Device key, no question',
  PASSKEY: 'Passkey',
  CREATION: 'Create a passkey',
  FACTOR: 'Second factor',
  ENROLMENT: 'Set up a second factor',
};

const reasons: Record<Step['reason'], string> = {
  NEW_BROWSER: 'The browser has no trusted device key.',
  TRUSTED_BROWSER: 'The session policy trusts this browser.',
  FRESH: 'The next step needs a code first, or the policy demands one.',
  ENROLLED: 'The user has this factor: it is always asked for.',
  MFA_POLICY: 'The project requires a second factor, and the user has none that meets the policy.',
  PASSKEY_POLICY: 'The project requires passkeys.',
  PASSKEY_CLIENT: 'The application requires passkeys.',
  ADMIN: 'Admins with a passkey must use it.',
  SECOND_FACTOR: 'The passkey is the second factor of this user.',
};

const denials: Record<NonNullable<SignIn['denied']>, string> = {
  INACTIVE: 'The user is deactivated: no code is sent.',
  CLIENT_DISABLED: 'The application is disabled.',
  NO_ADDRESS: 'The user has no e-mail address for the code.',
  NO_MAIL: 'No mail server is set.',
  NO_FACTOR: 'A second factor is required, and the project offers none.',
};

const methodNames: Record<Step['methods'][number], string> = {
  EMAIL: 'e-mail',
  SMS: 'text message',
  TOTP: 'authenticator app',
};

/** What a user would meet at an application now; nothing is signed in. */
export function ViewAsUser({ clientId, userId }: { clientId: string; userId: string }) {
  const scopes = ['openid'];
  const { data, failure, reload } = useQuery(ViewAs, { clientId, userId, scopes });
  if (failure) return <LoadError failure={failure} subject="the preview" retry={reload} />;
  if (!data) return <LinesSkeleton />;
  const { signIns, takesPasskey, asksConsent } = data.viewAs;
  return (
    <div className={styles.views}>
      {signIns.map((signIn) => (
        <section key={signIn.deviceId ?? 'new'} aria-label={nameOf(signIn)}>
          <h3>{nameOf(signIn)}</h3>
          <ol className={styles.steps}>
            {signIn.steps.map(({ kind, reason, methods }, index) => (
              <li key={index}>
                <strong>
                  {kinds[kind]}
                  {methods.length > 0 && `: ${methods.map((method) => methodNames[method]).join(', ')}`}
                </strong>
                <Text c="dimmed">{reasons[reason]}</Text>
              </li>
            ))}
            {asksConsent && !signIn.denied && (
              <li>
                <strong>Consent</strong>
                <Text c="dimmed">A third-party application, which this user has not allowed yet.</Text>
              </li>
            )}
            <li>
              {signIn.denied ? (
                <Alert color="bad" py="xs" title="Refused">
                  {denials[signIn.denied]}
                </Alert>
              ) : (
                <Badge color="good">Signed in</Badge>
              )}
            </li>
          </ol>
        </section>
      ))}
      {takesPasskey && <Text c="dimmed">A passkey of this user signs in instead of these steps.</Text>}
    </div>
  );
}

const nameOf = ({ deviceId, deviceName }: SignIn) =>
  deviceId === null || deviceId === undefined ? 'In a new browser' : `In a trusted browser: ${deviceName ?? 'unnamed'}`;
