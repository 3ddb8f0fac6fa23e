import { MultiSelect } from '@mantine/core';
import { allTypes } from '../audit/sentences.ts';

/** All events of a noun, then each type. */
const choices = [...new Set(allTypes.map((type) => `${type.split('.')[0]}.*`)), ...allTypes].sort();

/** The events that a receiver gets. */
export function EventTypes({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  return (
    <MultiSelect
      label="Events"
      description="A type, or all of a noun such as user.*. None chosen: all events."
      placeholder={value.length === 0 ? 'All events' : ''}
      data={choices}
      value={value}
      onChange={onChange}
      searchable
      limit={100}
      maxDropdownHeight={260}
      nothingFoundMessage="No such event type"
      comboboxProps={{ transitionProps: { duration: 0 } }}
    />
  );
}
