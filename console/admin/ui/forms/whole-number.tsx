import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../../language/language.ts';

interface WholeNumberProps {
  label: string;
  hint?: ReactNode;
  /** Shown after the number: "days". */
  unit: string;
  value: number;
  bounds: readonly [min: number, max: number];
  onChange(value: number): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Integer input with bounds. */
export function WholeNumber({ label, hint, unit, value, bounds, onChange, error, disabled = false }: WholeNumberProps) {
  const [text, setText] = useState(() => String(value));
  const [min, max] = bounds;
  const parsed = /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
  const isFit = parsed !== undefined && parsed >= min && parsed <= max;
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (parsed !== value) setText(String(value));
  }, [value]);
  return (
    <TextInput
      label={label}
      description={hint}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      styles={{ wrapper: { maxWidth: '15.5rem' } }}
      value={text}
      inputMode="numeric"
      disabled={disabled}
      rightSection={
        <Text span c="dimmed" w="100%" pe="sm" ta="end">
          {unit}
        </Text>
      }
      rightSectionWidth="6rem"
      rightSectionPointerEvents="none"
      error={error ?? (isFit ? undefined : t('From {min, number} to {max, number}', { min, max }))}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        if (/^\d{1,9}$/.test(typed.trim()) && Number(typed) >= min && Number(typed) <= max) onChange(Number(typed));
      }}
    />
  );
}
