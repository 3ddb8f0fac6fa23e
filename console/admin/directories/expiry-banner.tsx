import { Alert } from '@mantine/core';
import { Link } from 'react-router';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { Time } from '../ui/time.tsx';
import { type ExpiringToken, expiringOf } from './expiring.ts';

interface ExpiryBannerProps {
  tokens: readonly ExpiringToken[] | undefined;
  /** The page where tokens are issued, unless it is this one. */
  to?: string;
}

/** Warns of directory tokens that expire within 30 days, and of a sync that stopped because the last one has expired. */
export function ExpiryBanner({ tokens = [], to }: ExpiryBannerProps) {
  const { soon, last } = expiringOf(tokens);
  const link = to && (
    <>
      {' '}
      <Link to={to}>{t('Directory sync')}</Link>
    </>
  );
  if (last) {
    return (
      <Alert color="bad" radius="lg" title={t('The directory token has expired')}>
        {rich(
          '“{name}” expired <time></time>: every request of the directory fails. Issue a new token and set it in the directory.',
          { time: () => <Time at={last.expiresAt} />, name: last.name },
        )}
        {link}
      </Alert>
    );
  }
  if (soon.length === 0) return null;
  return (
    <Alert
      color="note"
      role="status"
      radius="lg"
      title={soon.length === 1 ? t('A directory token expires soon') : t('Directory tokens expire soon')}
    >
      {soon.map(({ id, name, expiresAt }) => (
        <p key={id}>{rich('“{name}” expires <time></time>.', { time: () => <Time at={expiresAt} />, name })}</p>
      ))}
      {t('Then the sync stops. Issue a new token, set it in the directory, and revoke the old one.')}
      {link}
    </Alert>
  );
}
