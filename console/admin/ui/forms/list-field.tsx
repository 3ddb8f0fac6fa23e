import { ActionIcon, Button, Fieldset, Group, Input, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useId, useRef } from 'react';
import { flushSync } from 'react-dom';
import { t } from '../../language/language.ts';
import { Icon } from '../icon.tsx';

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

/** Input for a list of values, one per line. */
export function ListField({
  label,
  hint,
  one,
  value: values,
  onChange,
  placeholder,
  fault,
  error,
  disabled = false,
}: ListFieldProps) {
  const id = useId();
  const list = useRef<HTMLFieldSetElement>(null);
  const lines = values.length === 0 && !disabled ? [''] : values;
  const put = (index: number, value: string) => onChange(lines.map((line, at) => (at === index ? value : line)));
  // Synchronous, so that input right after the click goes to the new line.
  const change = (changed: string[], focused: number) => {
    flushSync(() => onChange(changed));
    list.current?.querySelectorAll('input')[Math.max(0, focused)]?.focus();
  };
  const add = () => change([...lines, ''], lines.length);
  return (
    <Fieldset ref={list} legend={label} aria-describedby={`${id}-hint`}>
      {hint && (
        <Text c="dimmed" fz="xs" id={`${id}-hint`}>
          {hint}
        </Text>
      )}
      <Stack component="ul" gap="xs" my="xs">
        {lines.map((line, index) => (
          // Lines have no ID.
          <Group component="li" key={index} gap={4} wrap="nowrap" align="flex-start">
            <TextInput
              flex={1}
              styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.8125rem' } }}
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
                aria-label={t('Remove {line}', { line: line || one })}
                onClick={() => {
                  const rest = lines.filter((_, at) => at !== index);
                  change(rest, index - 1);
                }}
              >
                <Icon name="close" size={16} />
              </ActionIcon>
            )}
          </Group>
        ))}
      </Stack>
      {error && (
        <Input.Error role="alert" mb="xs">
          {error}
        </Input.Error>
      )}
      {!disabled && (
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={add}>
          {t('Add {one}', { one })}
        </Button>
      )}
      {disabled && values.length === 0 && <Text c="dimmed">{t('None')}</Text>}
    </Fieldset>
  );
}

/** Trims values and drops empty ones. */
export const tidy = (values: readonly string[]): string[] =>
  values.map((value) => value.trim()).filter((value) => value !== '');
