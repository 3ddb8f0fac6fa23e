import { CloseButton } from '@mantine/core';
import { useState } from 'react';
import { useMe } from '../../access.tsx';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { store, stored } from '../../ui/storage.ts';
import styles from './passkey-hint.module.css';

/** One line for an admin without a passkey, until they dismiss it in this browser. */
export function PasskeyHint() {
  const { id, lacksPasskey } = useMe();
  const key = `lk-passkey-hint ${id}`;
  const [isDismissed, setDismissed] = useState(() => stored(key) === 'dismissed');
  if (!lacksPasskey || isDismissed) return null;
  const dismiss = () => {
    store(key, 'dismissed');
    setDismissed(true);
    document.getElementById('main')?.focus();
  };
  return (
    <div className={styles.hint}>
      <p>
        {rich('A passkey protects your admin account from phishing. <link>Add a passkey</link>', {
          link: (label: string) => <a href="/account#passkeys">{label}</a>,
        })}
      </p>
      <CloseButton size="sm" aria-label={t('Dismiss')} onClick={dismiss} />
    </div>
  );
}
