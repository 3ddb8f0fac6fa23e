import { Badge, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '../api.ts';
import { AccentTheme, type TonesFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { tenths } from '../ui/counted.ts';
import { Facts } from '../ui/lists/facts.tsx';
import styles from './color-field.module.css';

/** Latchkey's default accent. */
const standard = '#2f55d4';

interface ColorFieldProps {
  /** Empty: the default. */
  value: string;
  onChange(color: string): void;
  error: string | undefined;
  disabled: boolean;
}

/** Accent color, with the derived accessible shades for both themes. */
export function ColorField({ value: color, onChange, error, disabled }: ColorFieldProps) {
  const six = asHex(color);
  const { data } = useQuery(AccentTheme, { color: six ?? standard }, { keep: true, pause: six === undefined });
  const isWrong = color.trim() !== '' && six === undefined;
  return (
    <Stack gap="sm">
      <TextInput
        label={t('Color')}
        description={t('Buttons and links. Six hex digits; empty: default blue.')}
        placeholder={standard}
        value={color}
        disabled={disabled}
        maxLength={9}
        spellCheck={false}
        error={isWrong ? t('Must be a hex color, such as #2f55d4') : error}
        onChange={(event) => onChange(event.currentTarget.value)}
        leftSection={
          <input
            type="color"
            className={styles.picker}
            aria-label={t('Choose the color')}
            value={six ?? standard}
            disabled={disabled}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      />
      <div aria-live="polite">
        {/* The default has its own shades. */}
        {six !== undefined && data && (
          <Facts
            labelWidth="3rem"
            facts={[
              [t('Light'), <Tones key="light" theme="light" tones={data.accentTheme.light} />],
              [t('Dark'), <Tones key="dark" theme="dark" tones={data.accentTheme.dark} />],
            ]}
          />
        )}
      </div>
    </Stack>
  );
}

function Tones({ theme, tones }: { theme: 'light' | 'dark'; tones: TonesFragment }) {
  const { accent, onAccent, accentText, contrast, textContrast, isAdjusted } = tones;
  return (
    <Group gap="0.25rem 0.75rem">
      <Group component="span" gap="sm" className={styles.sample ?? ''} data-theme={theme}>
        <span className={styles.button} style={{ background: accent, color: onAccent }}>
          {t('Continue')}
        </span>
        <Text span fw={500} td="underline" c={accentText}>
          {t('Link')}
        </Text>
      </Group>
      <Text span fz="xs" c="dimmed">
        {t('Button {contrast}, link {textContrast}', { contrast: ratio(contrast), textContrast: ratio(textContrast) })}
      </Text>
      {isAdjusted && <Badge color="note">{t('Adjusted for contrast')}</Badge>}
    </Group>
  );
}

const ratio = (value: number) => `${tenths.format(value)} : 1`;

function asHex(color: string): string | undefined {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(color.trim()) ?? [];
  if (digits === undefined) return undefined;
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`.toLowerCase();
}
