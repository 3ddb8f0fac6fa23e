import { useId } from 'react';
import { t } from '../../language/language.ts';
import { Icon } from '../../ui/icon.tsx';
import { type ClientKind, clientKinds } from '../kind.ts';
import styles from './kind-cards.module.css';

/** Radio group as cards; native radio buttons give arrow-key navigation. */
export function KindCards({ value, onChange }: { value: ClientKind; onChange(kind: ClientKind): void }) {
  const id = useId();
  return (
    <fieldset className={styles.cards}>
      <legend>{t('Application type')}</legend>
      {Object.entries(clientKinds).map(([kind, { name, hint, icon }]) => (
        <label key={kind} className={styles.card}>
          <input
            type="radio"
            name={id}
            value={kind}
            checked={kind === value}
            onChange={() => onChange(kind as ClientKind)}
          />
          <Icon name={icon} size={24} />
          <strong>{name}</strong>
          <span>{hint}</span>
        </label>
      ))}
    </fieldset>
  );
}
