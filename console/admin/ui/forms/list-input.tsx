import { TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

interface ListInputProps {
  label: string;
  description: ReactNode;
  placeholder: string;
  /** The form in which entries are compared. */
  fold(text: string): string;
  value: readonly string[];
  onChange(entries: string[]): void;
  error?: string | undefined;
  disabled?: boolean | undefined;
}

/** Input for a list of short texts without spaces, separated by spaces, commas or semicolons. */
export function ListInput({ fold, value: entries, onChange, ...input }: ListInputProps) {
  const [text, setText] = useState(() => entries.join(', '));
  const entriesIn = (typed: string) => [
    ...new Set(
      fold(typed)
        .split(/[\s,;]+/)
        .filter(Boolean),
    ),
  ];
  useEffect(() => {
    // Changed from outside, for example by "Discard".
    if (entriesIn(text).join() !== entries.join()) setText(entries.join(', '));
  }, [entries]);
  return (
    <TextInput
      {...input}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(entriesIn(event.currentTarget.value));
      }}
    />
  );
}
