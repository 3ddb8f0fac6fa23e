import { Icon, type IconName } from '../icon.tsx';
import styles from './kind-cards.module.css';

export interface Card {
  value: string;
  name: string;
  hint?: string;
  icon?: IconName;
}

interface KindCardsProps {
  legend: string;
  /** Name of the radio buttons, which several groups may share. */
  name: string;
  cards: readonly Card[];
  value: string;
  onChange(value: string): void;
}

/** Radio group as cards; native radio buttons give arrow-key navigation. Cards without a hint are small. */
export function KindCards({ legend, name: group, cards, value: chosen, onChange }: KindCardsProps) {
  return (
    <fieldset className={styles.cards} data-small={cards.every(({ hint }) => hint === undefined) || undefined}>
      <legend>{legend}</legend>
      {cards.map(({ value, name, hint, icon }) => (
        <label key={value} className={styles.card}>
          <input type="radio" name={group} value={value} checked={value === chosen} onChange={() => onChange(value)} />
          {icon && <Icon name={icon} size={24} />}
          <strong>{name}</strong>
          {hint && <span>{hint}</span>}
        </label>
      ))}
    </fieldset>
  );
}
