import { ActionIcon, Fieldset, Group, Input, Stack, Text } from '@mantine/core';
import { type ReactNode, useId, useRef } from 'react';
import { flushSync } from 'react-dom';
import { t } from '../../language/language.ts';
import { AddButton } from '../buttons.tsx';
import { Icon } from '../icon.tsx';

interface Line<Value> {
  value: Value;
  index: number;
  isLast: boolean;
  put(value: Value): void;
  /** Adds a line below the others. */
  add(): void;
}

interface LinesProps<Value> {
  legend: string;
  hint?: ReactNode;
  value: readonly Value[];
  onChange(values: Value[]): void;
  /** Value of a new line. */
  blank: Value;
  inputs(line: Line<Value>): ReactNode;
  /** Name of the line, as in "Remove read:orders". */
  nameOf(value: Value): string;
  /** A single line cannot be removed, even if it is not blank. */
  keepsOne?: boolean;
  /** Label of the button: "Add scope". */
  addLabel: string;
  /** Error from the server. */
  error?: string | undefined;
  disabled?: boolean;
}

/** A list with one line of inputs per value. */
export function Lines<Value>(props: LinesProps<Value>) {
  const { legend, hint, value, onChange, blank, inputs, nameOf, keepsOne, addLabel, error, disabled = false } = props;
  const id = useId();
  const list = useRef<HTMLFieldSetElement>(null);
  const values = value.length === 0 && !disabled ? [blank] : value;
  // Synchronous, so that input right after the click goes to the new line.
  const change = (changed: Value[], focused: number) => {
    flushSync(() => onChange(changed));
    list.current?.querySelectorAll('li')[Math.max(0, focused)]?.querySelector('input')?.focus();
  };
  const add = () => change([...values, blank], values.length);
  const isRemovable = (one: Value) => !disabled && (values.length > 1 || (!keepsOne && one !== blank));
  return (
    <Fieldset ref={list} legend={legend} {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}>
      {hint && (
        <Text c="dimmed" fz="xs" id={`${id}-hint`}>
          {hint}
        </Text>
      )}
      <Stack component="ul" gap="xs" my="xs">
        {values.map((one, index) => (
          // Lines have no ID.
          <Group component="li" key={index} gap={4} wrap="nowrap" align="flex-start">
            {inputs({
              ...{ value: one, index, isLast: index === values.length - 1, add },
              put: (next) => onChange(values.with(index, next)),
            })}
            {isRemovable(one) && (
              <RemoveLine name={nameOf(one)} onClick={() => change(values.toSpliced(index, 1), index - 1)} />
            )}
          </Group>
        ))}
      </Stack>
      {error && (
        <Input.Error role="alert" mb="xs">
          {error}
        </Input.Error>
      )}
      {!disabled && <AddLine onClick={add}>{addLabel}</AddLine>}
      {disabled && values.length === 0 && <Text c="dimmed">{t('None')}</Text>}
    </Fieldset>
  );
}

export function AddLine(props: { onClick(): void; children: ReactNode }) {
  return <AddButton {...props} variant="subtle" size="compact-sm" leftSection={<Icon name="plus" size={14} />} />;
}

export function RemoveLine({ name, onClick }: { name: string; onClick(): void }) {
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('Remove {name}', { name })} onClick={onClick}>
      <Icon name="close" size={16} />
    </ActionIcon>
  );
}
