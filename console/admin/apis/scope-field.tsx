import { ActionIcon, Button, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { t } from '../language/language.ts';
import { Icon } from '../ui/icon.tsx';

export interface Scope {
  key: string;
  description: string;
}

interface ScopeFieldProps {
  value: readonly Scope[];
  onChange(scopes: Scope[]): void;
  /** From the server. */
  error?: string | undefined;
}

/** The scopes of an API, one per line: key and description. */
export function ScopeField({ value, onChange, error }: ScopeFieldProps) {
  const list = useRef<HTMLFieldSetElement>(null);
  const lines = value.length === 0 ? [{ key: '', description: '' }] : value;
  const put = (index: number, part: Partial<Scope>) =>
    onChange(lines.map((line, at) => (at === index ? { ...line, ...part } : line)));
  // Synchronous, so that input right after the click goes to the new line.
  const change = (changed: Scope[], focused: number) => {
    flushSync(() => onChange(changed));
    list.current?.querySelectorAll('input')[Math.max(0, focused) * 2]?.focus();
  };
  return (
    <Fieldset ref={list} legend={t('Scopes')}>
      <Stack component="ul" gap="xs" my="xs">
        {lines.map((line, index) => (
          // Lines have no ID.
          <Group component="li" key={index} gap={4} wrap="nowrap" align="flex-start">
            <TextInput
              w="38%"
              styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.8125rem' } }}
              aria-label={t('Scope {index}, key', { index: index + 1 })}
              placeholder="orders:read"
              maxLength={100}
              spellCheck={false}
              autoCapitalize="none"
              value={line.key}
              onChange={(event) => put(index, { key: event.currentTarget.value })}
            />
            <TextInput
              flex={1}
              aria-label={t('Scope {index}, description', { index: index + 1 })}
              placeholder={t('Read orders')}
              maxLength={200}
              value={line.description}
              onChange={(event) => put(index, { description: event.currentTarget.value })}
            />
            {lines.length > 1 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={t('Remove {key}', { key: line.key || 'scope' })}
                onClick={() =>
                  change(
                    lines.filter((_, at) => at !== index),
                    index - 1,
                  )
                }
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
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => change([...lines, { key: '', description: '' }], lines.length)}
      >
        {t('Add scope')}
      </Button>
    </Fieldset>
  );
}
