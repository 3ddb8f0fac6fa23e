import { Radio, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

interface RadiosProps<Value extends string> {
  label: string;
  /** Shows the label; otherwise it is for screen readers only. */
  isLabelled?: boolean;
  options: Readonly<Record<Value, { name: ReactNode; hint?: string }>>;
  value: NoInfer<Value>;
  onChange(value: NoInfer<Value>): void;
  disabled?: boolean;
}

/** Radio buttons, one per line. */
export function Radios<Value extends string>(props: RadiosProps<Value>) {
  const { label, isLabelled = false, options, value, onChange, disabled = false } = props;
  return (
    <Radio.Group
      {...(isLabelled ? { label } : { 'aria-label': label })}
      value={value}
      onChange={(chosen) => onChange(chosen as Value)}
    >
      <Stack gap="sm" mt={isLabelled ? 'xs' : 0}>
        {Object.entries<{ name: ReactNode; hint?: string }>(options).map(([option, { name, hint }]) => (
          <Radio key={option} value={option} label={name} description={hint} disabled={disabled} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
