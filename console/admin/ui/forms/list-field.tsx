import { ActionIcon, Button, TextInput } from '@mantine/core';
import { type ReactNode, useId, useRef } from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '../icon.tsx';
import styles from './list-field.module.css';

interface ListFieldProps {
  label: string;
  hint?: ReactNode;
  /** Singular noun, as in "Add address". */
  one: string;
  values: readonly string[];
  onChange(values: string[]): void;
  placeholder?: string;
  fault(value: string): string | undefined;
  /** Error from the server. */
  error?: string | undefined;
  disabled?: boolean;
}

/** Input for a list of values, one per line. */
export function ListField({
  label,
  hint,
  one,
  values,
  onChange,
  placeholder,
  fault,
  error,
  disabled = false,
}: ListFieldProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const lines = values.length === 0 && !disabled ? [''] : values;
  const put = (index: number, value: string) => onChange(lines.map((line, at) => (at === index ? value : line)));
  // Synchronous, so that input right after the click goes to the new line.
  const change = (changed: string[], focused: number) => {
    flushSync(() => onChange(changed));
    list.current?.querySelectorAll('input')[Math.max(0, focused)]?.focus();
  };
  const add = () => change([...lines, ''], lines.length);
  return (
    <fieldset className={styles.field} aria-describedby={`${id}-hint`}>
      <legend>{label}</legend>
      {hint && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <ul ref={list} className={styles.list}>
        {lines.map((line, index) => (
          // Lines have no ID.
          <li key={index}>
            <TextInput
              aria-label={`${label}, ${index + 1}`}
              value={line}
              disabled={disabled}
              placeholder={placeholder ?? ''}
              error={fault(line)}
              spellCheck={false}
              autoCapitalize="none"
              onChange={(event) => put(index, event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || line.trim() === '' || index < lines.length - 1) return;
                event.preventDefault();
                add();
              }}
            />
            {!disabled && (lines.length > 1 || line !== '') && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={`Remove ${line || one}`}
                onClick={() => {
                  const rest = lines.filter((_, at) => at !== index);
                  change(rest, index - 1);
                }}
              >
                <Icon name="close" size={16} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {error && (
        <p className={styles.error} role="alert">
          {error}
        </p>
      )}
      {!disabled && (
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={add}>
          Add {one}
        </Button>
      )}
      {disabled && values.length === 0 && <p className={styles.hint}>None</p>}
    </fieldset>
  );
}

/** Trims values and drops empty ones. */
export const tidy = (values: readonly string[]): string[] =>
  values.map((value) => value.trim()).filter((value) => value !== '');
