import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../language/language.ts';
import { Lines } from './lines.tsx';
import { monospace, verbatim } from './verbatim.ts';

interface ListFieldProps {
  label: string;
  hint?: ReactNode;
  /** Singular noun, as in "Add address". */
  one: string;
  value: readonly string[];
  onChange(values: string[]): void;
  placeholder?: string;
  fault(value: string): string | undefined;
  /** Error from the server. */
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for a list of texts. */
export function ListField({ label, one, placeholder = '', fault, ...props }: ListFieldProps) {
  return (
    <Lines
      {...props}
      legend={label}
      blank=""
      nameOf={(line) => line || one}
      addLabel={t('Add {one}', { one })}
      inputs={({ value, index, isLast, put, add }) => (
        <TextInput
          {...verbatim}
          flex={1}
          styles={monospace}
          aria-label={`${label}, ${index + 1}`}
          value={value}
          disabled={props.disabled ?? false}
          placeholder={placeholder}
          error={fault(value)}
          onChange={(event) => put(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || value.trim() === '' || !isLast) return;
            event.preventDefault();
            add();
          }}
        />
      )}
    />
  );
}

/** Trims values and drops empty ones. */
export const tidy = (values: readonly string[]): string[] =>
  values.map((value) => value.trim()).filter((value) => value !== '');
