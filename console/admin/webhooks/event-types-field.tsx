import { MultiSelect } from '@mantine/core';
import { allTypes } from '../audit/sentences.ts';
import { t } from '../language/language.ts';

/** All events of a resource, then each type. */
const choices = [...new Set(allTypes.map((type) => `${type.split('.')[0]}.*`)), ...allTypes].sort();

/** The events that a receiver gets. */
export function EventTypes({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  return (
    <MultiSelect
      label={t('Events')}
      description={t('A type, or a group of types such as user.*. None: all events.')}
      placeholder={value.length === 0 ? t('All events') : ''}
      data={choices}
      value={value}
      onChange={onChange}
      searchable
      limit={100}
      maxDropdownHeight={260}
      nothingFoundMessage={t('No such event type')}
      comboboxProps={{ transitionProps: { duration: 0 } }}
    />
  );
}
