import { useQuery } from '../api.ts';
import { UserHoldings } from '../generated/operations.ts';
import { t } from '../language/language.ts';

/** Counts of the data deleted with a user. */
export function Losses({ userId }: { userId: string }) {
  const { data, failure } = useQuery(UserHoldings, { userId });
  if (failure) return <p>{t('Failed to count what will be lost: {message}', { message: failure.message })}</p>;
  const held = data?.userHoldings;
  if (!held) return <p aria-busy="true">{t('Counting…')}</p>;
  return (
    <>
      <p>{t('You will lose:')}</p>
      <ul>
        <li>
          {t('the profile, and the place in {count, plural, one {# group} other {# groups}}', { count: held.groups })}
        </li>
        <li>
          {t('{count, plural, one {# device} other {# devices}}', { count: held.devices })},{' '}
          {t('{count, plural, one {# passkey} other {# passkeys}}', { count: held.passkeys })},{' '}
          {t('{count, plural, one {# second factor} other {# second factors}}', { count: held.secondFactors })},{' '}
          {t('{count, plural, one {# recovery code} other {# recovery codes}}', { count: held.recoveryCodes })}
        </li>
        <li>{t('{count, plural, one {# session} other {# sessions}}, ended immediately', { count: held.sessions })}</li>
        <li>{t('{count, plural, one {# message} other {# messages}} to them', { count: held.messages })}</li>
        {held.adminRoles > 0 && (
          <li>{t('{count, plural, one {# role} other {# roles}} in this console', { count: held.adminRoles })}</li>
        )}
      </ul>
      <p>
        {t('{count, plural, one {# event stays} other {# events stay}} in the log, without a name.', {
          count: held.events,
        })}
      </p>
    </>
  );
}
