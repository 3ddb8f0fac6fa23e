import { Group, Input, NativeSelect, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { locale, t } from '../../language/language.ts';

const units = [
  { seconds: 86_400, name: 'day', label: t('days') },
  { seconds: 3600, name: 'hour', label: t('hours') },
  { seconds: 60, name: 'minute', label: t('minutes') },
  { seconds: 1, name: 'second', label: t('seconds') },
] as const;

/** "8 hours". */
const format = (count: number, unit: (typeof units)[number]['name']) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', useGrouping: false }).format(count);

/** "8 hours", "1 hour 30 minutes". */
export function formatDuration(seconds: number): string {
  let left = seconds;
  const parts: string[] = [];
  for (const unit of units) {
    const count = Math.floor(left / unit.seconds);
    left -= count * unit.seconds;
    if (count > 0) parts.push(format(count, unit.name));
  }
  return parts.join(' ') || format(0, 'second');
}

/** Whether the text is a whole number of at most nine digits. */
const isCount = (text: string) => /^\d{1,9}$/.test(text.trim());

type Unit = (typeof units)[number]['seconds'];

const fitting = (seconds: number): Unit =>
  units.find((unit) => seconds > 0 && seconds % unit.seconds === 0)?.seconds ?? 60;

interface DurationProps {
  label: string;
  hint?: ReactNode;
  /** In seconds. */
  value: number;
  onChange(seconds: number): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Duration input: number and unit; value in seconds. */
export function Duration({ label, hint, value: seconds, onChange, error, disabled = false }: DurationProps) {
  const [unit, setUnit] = useState<Unit>(() => fitting(seconds));
  const [text, setText] = useState(() => String(seconds / fitting(seconds)));
  const id = useId();
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (Number(text) * unit !== seconds) {
      const next = fitting(seconds);
      setUnit(next);
      setText(String(seconds / next));
    }
  }, [seconds]);
  const emit = (count: string, size: number) => {
    if (isCount(count)) onChange(Number(count) * size);
  };
  const fault = error ?? (isCount(text) ? undefined : t('Must be a whole number'));
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={hint}
      error={fault}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          w="6rem"
          id={id}
          value={text}
          error={fault !== undefined}
          inputMode="numeric"
          disabled={disabled}
          aria-describedby={hint ? `${id}-description` : undefined}
          onChange={(event) => {
            setText(event.currentTarget.value);
            emit(event.currentTarget.value, unit);
          }}
        />
        <NativeSelect
          w="9rem"
          aria-label={t('{label}, unit', { label })}
          disabled={disabled}
          data={[...units].reverse().map((one) => ({ value: String(one.seconds), label: one.label }))}
          value={String(unit)}
          onChange={(event) => {
            const size = Number(event.currentTarget.value) as Unit;
            setUnit(size);
            emit(text, size);
          }}
        />
      </Group>
    </Input.Wrapper>
  );
}
