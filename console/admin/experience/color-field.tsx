import { Badge, TextInput } from '@mantine/core';
import { useQuery } from '../api.ts';
import { AccentTheme, type TonesFragment } from '../generated/operations.ts';
import styles from './color-field.module.css';

/** Latchkey's default accent. */
const standard = '#2f55d4';

interface ColorFieldProps {
  /** Empty: the default. */
  color: string;
  onChange(color: string): void;
  error: string | undefined;
  disabled: boolean;
}

/** Accent colour, with the derived accessible shades for both themes. */
export function ColorField({ color, onChange, error, disabled }: ColorFieldProps) {
  const six = asHex(color);
  const { data } = useQuery(AccentTheme, { color: six ?? standard }, { keep: true });
  const isWrong = color.trim() !== '' && six === undefined;
  return (
    <div className={styles.field}>
      <TextInput
        label="Colour"
        description="Buttons and links. Six hex digits; empty: default blue."
        placeholder={standard}
        value={color}
        disabled={disabled}
        maxLength={9}
        spellCheck={false}
        error={isWrong ? 'Must be a hex colour, such as #2f55d4' : error}
        onChange={(event) => onChange(event.currentTarget.value)}
        leftSection={
          <input
            type="color"
            className={styles.picker}
            aria-label="Choose the colour"
            value={six ?? standard}
            disabled={disabled}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      />
      {data && (
        <dl className={styles.tones} aria-live="polite">
          <Tones name="Light" tones={data.accentTheme.light} />
          <Tones name="Dark" tones={data.accentTheme.dark} />
        </dl>
      )}
    </div>
  );
}

function Tones({ name, tones }: { name: 'Light' | 'Dark'; tones: TonesFragment }) {
  const { accent, onAccent, accentText, contrast, textContrast, isAdjusted } = tones;
  return (
    <div className={styles.tone}>
      <dt>{name}</dt>
      <dd>
        <span className={styles.sample} data-theme={name.toLowerCase()}>
          <span className={styles.button} style={{ background: accent, color: onAccent }}>
            Continue
          </span>
          <span className={styles.link} style={{ color: accentText }}>
            Link
          </span>
        </span>
        <span className={styles.numbers}>
          Button {ratio(contrast)}, link {ratio(textContrast)}
          {isAdjusted && <Badge color="note">Adjusted for contrast</Badge>}
        </span>
      </dd>
    </div>
  );
}

const ratio = (value: number) => `${value.toFixed(1)} : 1`;

function asHex(color: string): string | undefined {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(color.trim()) ?? [];
  if (digits === undefined) return undefined;
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`.toLowerCase();
}
