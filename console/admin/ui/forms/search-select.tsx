import { Select, type SelectProps } from '@mantine/core';
import { useState } from 'react';

interface SearchSelectProps extends Pick<SelectProps, 'label' | 'description' | 'placeholder' | 'error' | 'disabled'> {
  /** The results of the search, with the chosen one. */
  options: readonly { value: string; label: string }[];
  value: string | null;
  onChange(value: string | null): void;
  onSearch(text: string): void;
  /** Shown if nothing matches. */
  nothing: string;
}

/** Select whose options are found by the server. */
export function SearchSelect({ options, value, onChange, onSearch, nothing, ...field }: SearchSelectProps) {
  // The chosen option stays when the search changes.
  const [chosen, setChosen] = useState<{ value: string; label: string }>();
  const shown = chosen && !options.some((option) => option.value === chosen.value) ? [chosen, ...options] : options;
  return (
    <Select
      {...field}
      searchable
      data={[...shown]}
      value={value}
      // The server has already filtered them.
      filter={({ options: all }) => all}
      nothingFoundMessage={nothing}
      // No animation: a list that was closed and reopened during one stayed hidden.
      comboboxProps={{ transitionProps: { duration: 0 } }}
      onSearchChange={(text) => onSearch(text === chosen?.label ? '' : text)}
      onChange={(next, option) => {
        setChosen(option ?? undefined);
        onChange(next);
      }}
    />
  );
}
