import { Anchor, Select, type SelectProps } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { t } from '../../language/language.ts';
import { useProjectPath } from '../../projects/project.tsx';

/** Shown if nothing matches, and if there is nothing to search. */
const texts = {
  user: [t('No matching users'), t('No users yet')],
  group: [t('No matching groups'), t('No groups yet')],
  application: [t('No matching applications'), t('No applications yet')],
} as const;

/** The page that adds one. */
const additions = {
  user: ['users', t('Add user')],
  group: ['groups', t('Create group')],
  application: undefined,
} as const;

interface SearchSelectProps extends Pick<SelectProps, 'label' | 'description' | 'placeholder' | 'error' | 'disabled'> {
  /** Or the texts if nothing matches, and if there is nothing to search. */
  kind: keyof typeof texts | readonly [noMatch: string, noneYet: string];
  /** The results of the search, with the chosen one; undefined while loading. */
  options: readonly { value: string; label: string }[] | undefined;
  value: string | null;
  onChange(value: string | null): void;
  onSearch(text: string): void;
}

/** Select whose options are found by the server. */
export function SearchSelect({ kind, options, value, onChange, onSearch, ...field }: SearchSelectProps) {
  // The chosen option stays when the search changes.
  const [chosen, setChosen] = useState<{ value: string; label: string }>();
  const [search, setSearch] = useState('');
  const isKept = chosen && !options?.some((option) => option.value === chosen.value);
  const shown = isKept ? [chosen, ...(options ?? [])] : options;
  const [noMatch, noneYet] = typeof kind === 'string' ? texts[kind] : kind;
  const path = useProjectPath();
  const addition = typeof kind === 'string' ? additions[kind] : undefined;
  // In another tab: the form stays.
  const none = addition ? (
    <>
      {noneYet}.{' '}
      <Anchor inherit underline="always" component={Link} to={path(addition[0])} target="_blank">
        {addition[1]}
      </Anchor>
    </>
  ) : (
    noneYet
  );
  // Results of an earlier search say nothing about an empty one.
  const [hadAny, setHadAny] = useState(false);
  if (!hadAny && options?.length) setHadAny(true);
  const isEmpty = !hadAny && shown?.length === 0 && search === '';
  return (
    <Select
      {...field}
      {...(isEmpty && { description: none })}
      searchable
      data={[...(shown ?? [])]}
      value={value}
      // The server has already filtered them.
      filter={({ options: all }) => all}
      // Without it no list opens.
      nothingFoundMessage={shown && !isEmpty ? noMatch : undefined}
      // No animation: a list that was closed and reopened during one stayed hidden.
      comboboxProps={{ transitionProps: { duration: 0 } }}
      onSearchChange={(text) => {
        const wanted = text === chosen?.label ? '' : text;
        setSearch(wanted);
        onSearch(wanted);
      }}
      onChange={(next, option) => {
        setChosen(option ?? undefined);
        onChange(next);
      }}
    />
  );
}
