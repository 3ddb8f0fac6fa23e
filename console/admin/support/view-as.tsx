import { Alert, Badge, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import { ViewAs, type ViewAsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import styles from './view-as.module.css';

type SignIn = ViewAsQuery['viewAs']['signIns'][number];
type Step = SignIn['steps'][number];

const kinds: Record<Step['kind'], string> = {
  MAIL_CODE: t('Code by mail'),
  DEVICE_KEY: t('Device key, no question'),
  PASSKEY: t('Passkey'),
  CREATION: t('Create a passkey'),
  FACTOR: t('Second factor'),
  ENROLMENT: t('Set up a second factor'),
};

const reasons: Record<Step['reason'], string> = {
  NEW_BROWSER: t('The browser has no trusted device key.'),
  TRUSTED_BROWSER: t('The session policy trusts this browser.'),
  FRESH: t('The next step or the policy requires a code.'),
  ENROLLED: t('The user has this factor: it is always asked for.'),
  MFA_POLICY: t('A second factor is required, and the user has none that meets the policy.'),
  PASSKEY_POLICY: t('The project requires passkeys.'),
  PASSKEY_CLIENT: t('The application requires passkeys.'),
  ADMIN: t('Admins with a passkey must use it.'),
  SECOND_FACTOR: t('The passkey is the second factor of this user.'),
};

const denials: Record<NonNullable<SignIn['denied']>, string> = {
  INACTIVE: t('The user is deactivated: no code is sent.'),
  CLIENT_DISABLED: t('The application is disabled.'),
  NO_ACCESS: t('The user has no access to this application.'),
  NO_ADDRESS: t('The user has no email address for the code.'),
  NO_MAIL: t('No mail server is set.'),
  NO_FACTOR: t('A second factor is required, and the project offers none.'),
};

const methodNames: Record<Step['methods'][number], string> = {
  EMAIL: t('email'),
  SMS: t('text message'),
  TOTP: t('authenticator app'),
};

/** A preview of a user's sign-in to an application now, without signing in. */
export function ViewAsUser({ clientId, userId }: { clientId: string; userId: string }) {
  const scopes = ['openid'];
  const { data, failure, reload } = useQuery(ViewAs, { clientId, userId, scopes });
  if (failure) return <LoadError failure={failure} subject={t('the preview')} retry={reload} />;
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
                  {methods.length > 0 && ` (${methods.map((method) => methodNames[method]).join(', ')})`}
                </strong>
                <Text c="dimmed">{reasons[reason]}</Text>
              </li>
            ))}
            {asksConsent && !signIn.denied && (
              <li>
                <strong>{t('Consent')}</strong>
                <Text c="dimmed">{t('The user has not allowed this application yet.')}</Text>
              </li>
            )}
            <li>
              {signIn.denied ? (
                <Alert color="bad" py="xs" title={t('Refused')}>
                  {denials[signIn.denied]}
                </Alert>
              ) : (
                <Badge color="good">{t('Signed in')}</Badge>
              )}
            </li>
          </ol>
        </section>
      ))}
      {takesPasskey && <Text c="dimmed">{t('A passkey of this user signs in instead of these steps.')}</Text>}
    </div>
  );
}

const nameOf = ({ deviceId, deviceName }: SignIn) =>
  deviceId === null || deviceId === undefined
    ? t('In a new browser')
    : t('In a trusted browser: {name}', { name: deviceName ?? t('unnamed') });
